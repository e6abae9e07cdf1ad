// heavy templates / inlining / exceptions / std::set / std::function / variant
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
using u64 = unsigned long long;
static u64 rs = 88172645463325252ull;
static u64 rnd()
{
	rs ^= rs << 13;
	rs ^= rs >> 7;
	rs ^= rs << 17;
	return rs;
}
template <class L, class R, class Op> struct Bin {
	const L &l;
	const R &r;
	double operator[](size_t i) const
	{
		return Op::f(l[i], r[i]);
	}
};
struct Add {
	static double f(double a, double b)
	{
		return a + b;
	}
};
struct Mul {
	static double f(double a, double b)
	{
		return a * b;
	}
};
struct Vec {
	std::vector<double> d;
	explicit Vec(size_t n) : d(n)
	{
	}
	double operator[](size_t i) const
	{
		return d[i];
	}
	template <class E> Vec &operator=(const E &e)
	{
		for (size_t i = 0; i < d.size(); i++)
			d[i] = e[i];
		return *this;
	}
};
template <class L, class R> Bin<L, R, Add> operator+(const L &l, const R &r)
{
	return { l, r };
}
template <class L, class R> Bin<L, R, Mul> operator*(const L &l, const R &r)
{
	return { l, r };
}
struct Num {
	double v;
};
struct Var {
	int i;
};
struct Node;
using P = std::shared_ptr<Node>;
struct BinN {
	char op;
	P a, b;
};
struct Node {
	std::variant<Num, Var, BinN> v;
};
static P mk(int d)
{
	if (d == 0)
		return (rnd() & 1) ? std::make_shared<Node>(Node{ Num{ double(rnd() % 100) } })
				   : std::make_shared<Node>(Node{ Var{ int(rnd() % 8) } });
	return std::make_shared<Node>(Node{ BinN{ "+-*/"[rnd() % 4], mk(d - 1), mk(d - 1) } });
}
struct Div0 : std::runtime_error {
	using std::runtime_error::runtime_error;
};
struct Ev {
	const double *e;
	double operator()(const Num &n) const
	{
		return n.v;
	}
	double operator()(const Var &v) const
	{
		return e[v.i];
	}
	double operator()(const BinN &b) const
	{
		double x = std::visit(*this, b.a->v), y = std::visit(*this, b.b->v);
		switch (b.op) {
		case '+':
			return x + y;
		case '-':
			return x - y;
		case '*':
			return x * y * 1e-3;
		default:
			if (y == 0)
				throw Div0("div0");
			return x / y;
		}
	}
};
template <class T, class F> __attribute__((noinline)) u64 setwork(int n, F f)
{
	std::set<T> s;
	u64 a = 0;
	for (int i = 0; i < n; i++) {
		s.insert(f(rnd() % 100000));
		if (s.size() > 20000)
			s.erase(s.begin());
	}
	for (auto &x : s)
		a += std::hash<T>()(x);
	return a;
}
template <int N> struct Poly {
	static inline double ev(double x)
	{
		return x * Poly<N - 1>::ev(x) + N;
	}
};
template <> struct Poly<0> {
	static inline double ev(double)
	{
		return 1;
	}
};
int main(int c, char **v)
{
	int n = c > 1 ? atoi(v[1]) : 10;
	u64 acc = 0;
	double da = 0;
	long exc = 0;
	std::map<std::string, std::function<void()>> jobs;
	Vec a(20000), b(20000), e(20000);
	for (int i = 0; i < 20000; i++) {
		a.d[i] = i;
		b.d[i] = 1.0 / (i + 1);
	}
	P t = mk(12);
	double env[8];
	jobs["expr"] = [&] {
		for (int k = 0; k < 150; k++)
			e = a * b + a + e * b;
		da += e[77];
	};
	jobs["set_int"] = [&] { acc += setwork<u64>(60000, [](u64 x) { return x; }); };
	jobs["set_str"] = [&] {
		acc += setwork<std::string>(
			20000, [](u64 x) { return "key_with_a_long_prefix_" + std::to_string(x); });
	};
	jobs["eval"] = [&] {
		for (int k = 0; k < 150; k++) {
			for (int i = 0; i < 8; i++)
				env[i] = double(rnd() % (k % 3 ? 1000 : 3));
			try {
				da += std::visit(Ev{ env }, t->v);
			} catch (const Div0 &x) {
				exc++;
			}
		}
	};
	jobs["sort"] = [&] {
		std::vector<std::pair<u64, std::string>> w;
		for (int i = 0; i < 8000; i++)
			w.emplace_back(rnd() % 500, std::to_string(rnd()));
		std::sort(w.begin(), w.end(), [](auto &x, auto &y) {
			return x.first != y.first ? x.first < y.first : x.second < y.second;
		});
		acc += w[5].first;
	};
	jobs["regex"] = [&] {
		static std::regex re("([a-z]+)([0-9]+)-(foo|bar)*");
		std::string s;
		for (int i = 0; i < 150; i++)
			s += "abc" + std::to_string(i) + "-foobar ";
		acc += std::distance(std::sregex_iterator(s.begin(), s.end(), re), std::sregex_iterator());
	};
	jobs["poly"] = [&] {
		for (int i = 0; i < 60000; i++)
			da += Poly<24>::ev(i * 1e-6);
	};
	jobs["throw"] = [&] {
		std::function<int(int)> f = [&](int d) -> int {
			if (d == 0)
				throw Div0("deep");
			return f(d - 1) + 1;
		};
		for (int i = 0; i < 150; i++) {
			try {
				acc += f(20);
			} catch (std::exception &x) {
				exc++;
			}
		}
	};
	jobs["hash"] = [&] {
		std::unordered_map<u64, u64> m;
		for (int i = 0; i < 60000; i++)
			m[rnd() % 30000] += i;
		for (auto &p : m)
			acc ^= p.first * p.second;
	};
	for (int i = 0; i < n; i++)
		for (auto &j : jobs)
			j.second();
	printf("%llu %g %ld\n", acc, da, exc);
}
