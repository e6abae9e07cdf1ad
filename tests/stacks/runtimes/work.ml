(* SPDX-License-Identifier: Apache-2.0 *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () =
  let sum = ref 0 in
  for i = 1 to 3000 do
    let a = Array.init 300 (fun j -> (j * 7919 + i) mod 101) in
    Array.sort compare a;
    let s = String.concat "," (List.map string_of_int (Array.to_list a)) in
    sum := !sum + fib 18 + String.length s
  done;
  print_int !sum
