;; SPDX-License-Identifier: Apache-2.0
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (work i) (apply + (sort (map (lambda (x) (modulo (* x 7919) 1009)) (iota 300)) <)))
(let loop ((i 0) (s 0))
  (if (< i 250) (loop (+ i 1) (+ s (fib 20) (work i))) (begin (display s) (newline))))
