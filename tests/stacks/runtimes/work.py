def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


total = 0
for i in range(400):
    words = {}
    for j in range(3000):
        word = str(j * 7919 % 1009)
        words[word] = words.get(word, 0) + 1
    total += fib(16) + len(sorted(words, key=lambda w: w[::-1]))
print(total)
