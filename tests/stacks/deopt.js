// Is deoptimised all the time: many activations of a function at once, as they are returned to; others at once; and
// frames that stand for several inlined functions. node --allow-natives-syntax deopt.js SECONDS
const end = Date.now() + 1000 * (+process.argv[2] || 3);
const recursive = i => new Function('self', 'depth', 'object', 'last', `
	let s = object.x + ${i};
	if (depth == 0) { last(self); return s; }
	return self(self, depth - 1, object, last) + s + object.x;`);
const inlining = i => new Function('object', 'k', `
	const get = o => o.x + k;
	let s = ${i};
	for (let j = 0; j < 3; j++) s += get(object);
	return s;`);
const deoptimize = f => { %DeoptimizeFunction(f); }, nothing = () => {};

function optimize(f, ...args)
{
	%PrepareFunctionForOptimization(f);
	f(...args);
	f(...args);
	%OptimizeFunctionOnNextCall(f);
	f(...args);
}

let sum = 0;
for (let i = 0; Date.now() < end; i++) {
	const f = recursive(i), g = inlining(i);
	optimize(f, f, 3, { x : 1 }, nothing);
	sum += f(f, 60, { x : 1 }, deoptimize);
	for (let r = 0; r < 4; r++) {
		optimize(g, { x : 1 }, 1);
		sum += g({ y : 1, x : 1.5 + r }, 1);
	}
}
console.log(sum);
