;; SPDX-License-Identifier: Apache-2.0
(defun fib (n) (declare (fixnum n)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun work (i) (reduce #'+ (sort (loop for x below 300 collect (mod (+ i (* x 7919)) 1009)) #'<)))
(let ((s 0))
  (dotimes (i 3000) (incf s (+ (fib 20) (work i) (length (format nil "~a" i)))))
  (print s))
