// SPDX-License-Identifier: Apache-2.0
// Templates, lambdas, local classes, virtual calls, exceptions: what C++ compilers inline most.
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#ifndef QUICK // to compile
#include <regex>
#endif
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shapes {

struct point {
	double x = 0, y = 0;
	point operator+(const point &o) const { return {x + o.x, y + o.y}; }
	friend bool operator<(const point &a, const point &b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }
};

class shape {
public:
	explicit shape(std::string name) : name_(std::move(name)) {}
	virtual ~shape() = default;
	virtual double area() const = 0;
	const std::string &name() const { return name_; }

private:
	std::string name_;
};

class circle final : public shape {
public:
	explicit circle(double r) : shape("circle"), r_(r) { if (r < 0) throw std::invalid_argument("negative radius"); }
	double area() const override { return 3.14159265 * r_ * r_; }

private:
	double r_;
};

class polygon : public shape {
public:
	explicit polygon(std::vector<point> points) : shape("polygon"), points_(std::move(points)) {}
	double area() const override
	{
		double twice = 0;
		for (size_t i = 0; i < points_.size(); i++) {
			const point &a = points_[i], &b = points_[(i + 1) % points_.size()];
			twice += a.x * b.y - b.x * a.y;
		}
		return twice < 0 ? -twice / 2 : twice / 2;
	}

private:
	std::vector<point> points_;
};

template <class T, class F> auto mapped(const std::vector<T> &in, F f)
{
	std::vector<decltype(f(in[0]))> out;
	out.reserve(in.size());
	for (const T &value : in)
		out.push_back(f(value));
	return out;
}

template <int N> struct power {
	static double of(double x) { return x * power<N - 1>::of(x); }
};
template <> struct power<0> {
	static double of(double) { return 1; }
};

static inline int digit_sum(unsigned n)
{
	int sum = 0;
	for (; n; n /= 10)
		sum += (int)(n % 10);
	return sum;
}

using value = std::variant<int, double, std::string>;

std::string describe(const value &v)
{
	struct printer {
		std::ostringstream out;
		void operator()(int i) { out << "int " << i << " with digits " << digit_sum((unsigned)i); }
		void operator()(double d) { out << "double " << power<5>::of(d); }
		void operator()(const std::string &s) { out << "text of " << s.size(); }
	} print;
	std::visit(print, v);
	return print.out.str();
}

double total_area(const std::vector<std::unique_ptr<shape>> &all)
{
	return std::accumulate(all.begin(), all.end(), 0.0, [](double sum, const auto &s) { return sum + s->area(); });
}

std::map<std::string, std::vector<int>> count_words(const std::string &text)
{
	std::map<std::string, std::vector<int>> found;
	int at = 0;
#ifdef QUICK
	std::istringstream words(text);
	for (std::string word; words >> word;)
		found[word].push_back(at++);
#else
	std::regex word("[a-z]+");
	for (auto i = std::sregex_iterator(text.begin(), text.end(), word); i != std::sregex_iterator(); ++i)
		found[i->str()].push_back(at++);
#endif
	return found;
}

} // namespace shapes

int main(int argc, char **argv)
{
	using namespace shapes;
	std::vector<std::unique_ptr<shape>> all;
	std::set<point> corners;
	std::unordered_map<int, std::deque<double>> history;

	for (int i = 0; i < 200; i++) {
		try {
			all.push_back(std::make_unique<circle>(i % 7 - 1));
		} catch (const std::invalid_argument &e) {
			all.push_back(std::make_unique<polygon>(std::vector<point>{{0, 0}, {1.0 * i, 0}, {0, 2}}));
		}
		corners.insert({1.0 * (i % 13), 1.0 * (i % 5)});
		history[i % 10].push_front(i);
	}
	std::vector<int> numbers(500);
	std::iota(numbers.begin(), numbers.end(), argc);
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return digit_sum((unsigned)a) < digit_sum((unsigned)b); });
	auto roots = mapped(numbers, [&](int n) { return power<3>::of(n) / (1 + corners.size()); });
	std::function<double(double)> chain = [](double x) { return x; };
	for (int i = 0; i < 5; i++)
		chain = [chain, i](double x) { return chain(x) + i; };
	auto words = count_words("the quick brown fox jumps over the lazy dog and the cat");
	std::cout << total_area(all) << ' ' << roots.back() << ' ' << chain(1) << ' ' << words.size() << ' '
		  << describe(argc) << ' ' << describe(2.5) << ' ' << describe(std::string(argv[0])) << '\n';
	return 0;
}
