const n = +process.argv[2] || 10;
function fib(n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2)
}
class Node
{
	constructor(l, r, v)
	{
		this.l = l;
		this.r = r;
		this.v = v
	}
	sum()
	{
		return this.v + (this.l ? this.l.sum() : 0) + (this.r ? this.r.sum() : 0)
	}
}
function mk(d)
{
	return d == 0 ? new Node(null, null, 1) : new Node(mk(d - 1), mk(d - 1), d)
}
function words()
{
	const m = new Map();
	let x = 1;
	for (let i = 0; i < 40000; i++) {
		x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff;
		const k = 'w' + x % 997;
		m.set(k, (m.get(k) || 0) + 1)
	}
	return JSON.stringify([...m ].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))).length
}
function mat(k)
{
	const a = new Float64Array(k * k).map((_, i) => i % 7), c = new Float64Array(k * k);
	for (let i = 0; i < k; i++)
		for (let j = 0; j < k; j++) {
			let s = 0;
			for (let q = 0; q < k; q++)
				s += a[i * k + q] * a[q * k + j];
			c[i * k + j] = s
		}
	return c[k + 1]
}
function rx()
{
	let s = '';
	for (let i = 0; i < 4000; i++)
		s += 'abc' + i + '-foobar ';
	return s.match(/(\w+)(\d)-(foo|bar)*/g).length + s.replace(/\d+/g, x => (+x).toString(16)).length
}
const ops = {
	add : (a, b) => a + b,
	mul : (a, b) => a * b % 1000003
};
function poly()
{
	let t = 0;
	for (let i = 0; i < 100000; i++)
		t = ops[i % 3 ? 'add' : 'mul'](t, i);
	return t
}
let t = 0;
for (let i = 0; i < n; i++)
	t += fib(24) + mk(14).sum() + words() + mat(100) + rx() + poly();
console.log(t);
