// SPDX-License-Identifier: Apache-2.0
// Eigen: expressions whose loops are the library's, inside loops of the program.
#include <Eigen/Dense>
#include <cstdio>

#define KEEP __attribute__((noinline))

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

KEEP double power(const MatrixXd &a, VectorXd &x, int rounds)
{
	double norm = 0;
	for (int round = 0; round < rounds; round++) { // loop 1 in power
		x = (a * x).eval();
		norm = x.norm();
		x /= norm;
	}
	return norm;
}

KEEP double trace(const MatrixXd &a)
{
	double sum = 1;
	for (Index i = 0; i < a.rows(); i++) // loop 1 in trace
		sum += a(i, i) / (sum * sum + 1);
	return sum;
}

KEEP void relax(MatrixXd &to, const MatrixXd &from)
{
	for (Index x = 1; x + 1 < from.cols(); x++) // loop 1 in relax
		for (Index y = 1; y + 1 < from.rows(); y++) // loop 2 in relax
			to(y, x) = (from(y - 1, x) + from(y + 1, x) + from(y, x - 1) + from(y, x + 1)) / 4;
}

KEEP double columns(const MatrixXd &a, const VectorXd &x)
{
	double sum = 0;
	for (Index i = 0; i < a.cols(); i++) // loop 1 in columns
		sum += a.col(i).dot(x) / (sum + 1);
	return sum;
}

KEEP void eliminate(MatrixXd &a)
{
	for (Index k = 0; k + 1 < a.rows(); k++) // loop 1 in eliminate
		for (Index i = k + 1; i < a.rows(); i++) { // loop 2 in eliminate
			double factor = a(i, k) / a(k, k);
			a.row(i) -= factor * a.row(k);
		}
}

int main(int n, char **)
{
	MatrixXd a = MatrixXd::Random(20 * n, 20 * n), b = a;
	VectorXd x = VectorXd::Ones(20 * n);
	double norm = power(a, x, 10);
	relax(b, a);
	eliminate(a);
	std::printf("%f %f %f %f\n", norm, trace(b), columns(b, x), a(0, 1));
}
