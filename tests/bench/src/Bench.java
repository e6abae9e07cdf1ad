import java.util.*;
import java.util.stream.*;
public class Bench
{
	interface Sh
	{
		double area();
	}
	record C(double r) implements Sh
	{
		public double area()
		{
			return r * r * 3.14;
		}
	}
	record G(List<Sh> k) implements Sh
	{
		public double area()
		{
			double s = 0;
			for (Sh x : k)
				s = s * .5 + x.area();
			return s;
		}
	}
	static long seed = 1;
	static int rnd(int n)
	{
		seed = seed * 6364136223846793005L + 1442695040888963407L;
		return (int)((seed >>> 33) % n);
	}
	static Sh mk(int d)
	{
		if (d == 0)
			return new C(rnd(100));
		List<Sh> l = new ArrayList<>();
		for (int i = 0; i < 3 + rnd(2); i++)
			l.add(mk(d - 1));
		return new G(l);
	}
	static int fib(int n)
	{
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}
	static int words()
	{
		Map<String, Integer> m = new HashMap<>();
		for (int i = 0; i < 40000; i++)
			m.merge("w" + rnd(5000), 1, Integer::sum);
		return m.entrySet()
			.stream()
			.sorted(Map.Entry.<String, Integer>comparingByValue().reversed().thenComparing(
				Map.Entry.comparingByKey()))
			.map(e -> e.getKey() + "=" + e.getValue())
			.collect(Collectors.joining(","))
			.length();
	}
	static double mat(int n)
	{
		double[][] a = new double[n][n], c = new double[n][n];
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				a[i][j] = (i * j) % 7;
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++) {
				double s = 0;
				for (int k = 0; k < n; k++)
					s += a[i][k] * a[k][j];
				c[i][j] = s;
			}
		return c[1][1];
	}
	static int exc(int d)
	{
		if (d == 0)
			throw new RuntimeException("x");
		return exc(d - 1) + 1;
	}
	public static void main(String[] a)
	{
		int n = Integer.parseInt(a[0]);
		double t = 0;
		Sh s = mk(9);
		for (int i = 0; i < n; i++) {
			t += s.area() + fib(24) + words() + mat(120);
			for (int j = 0; j < 100; j++)
				try {
					t += exc(30);
				} catch (RuntimeException e) {
					t++;
				}
		}
		System.out.println(t);
	}
}
