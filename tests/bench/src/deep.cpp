// xalancbmk-like: deep mutual recursion over a tree through virtual calls; work at the deep end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct Ctx {
	unsigned long h;
	long cnt;
	char buf[4096];
};
struct Node {
	Node *kid[3];
	int n;
	int tag;
	virtual long exec(Ctx *c, int d);
	virtual long apply(Ctx *c, int d);
	virtual long visit(Ctx *c, int d);
};
__attribute__((noinline)) static unsigned long hashbuf(const char *p, size_t n, unsigned long h)
{
	for (size_t i = 0; i < n; i++) {
		h ^= (unsigned char)p[i];
		h *= 1099511628211ul;
		h ^= h >> 29;
	}
	return h;
}
__attribute__((noinline)) static long leafwork(Ctx *c, int tag, int d)
{
	long s = 0;
	for (int i = 0; i < 4; i++) {
		memset(c->buf + (d * 7 & 1023), tag + i, 256);
		c->h = hashbuf(c->buf + (tag & 1023), 300, c->h);
		s += c->h & 0xff;
	}
	c->cnt++;
	return s;
}
__attribute__((noinline)) long Node::exec(Ctx *c, int d)
{
	char t[24];
	memset(t, d, sizeof t);
	long s = t[d % 24];
	if (n == 0)
		return leafwork(c, tag, d);
	for (int i = 0; i < n; i++)
		s += kid[i]->apply(c, d + 1);
	return s + t[(d + 1) % 24];
}
__attribute__((noinline)) long Node::apply(Ctx *c, int d)
{
	long s = tag;
	if (tag & 1)
		s += visit(c, d + 1);
	else {
		int x = d * 3;
		s += visit(c, d + 1) + x;
	}
	return s;
}
__attribute__((noinline)) long Node::visit(Ctx *c, int d)
{
	if ((tag & 15) == 15)
		c->h = hashbuf(c->buf, 40, c->h);
	return exec(c, d + 1) + d;
}
struct NodeB : Node {
	long apply(Ctx *c, int d) override;
};
__attribute__((noinline)) long NodeB::apply(Ctx *c, int d)
{
	long a[6];
	for (int i = 0; i < 6; i++)
		a[i] = c->h >> i;
	long r = Node::visit(c, d + 1);
	return r + a[d % 6];
}
int main(int ac, char **av)
{
	int depth = ac > 1 ? atoi(av[1]) : 2500, reps = ac > 2 ? atoi(av[2]) : 10;
	int levels = depth / 3;
	// a spine of `levels` nodes; the last 6 levels branch 3-way
	Node *root = 0, *cur = 0;
	unsigned r = 12345;
	for (int i = 0; i < levels - 6; i++) {
		Node *x = (i % 5 == 2) ? new NodeB : new Node;
		x->n = 1;
		x->tag = (r = r * 1103515245 + 12345) >> 16;
		if (!root)
			root = x;
		else
			cur->kid[0] = x;
		cur = x;
	}
	struct B {
		static Node *mk(int l, unsigned *r)
		{
			Node *x = (l & 1) ? new NodeB : new Node;
			x->tag = (*r = *r * 1103515245 + 12345) >> 16 & 0x7fff;
			x->n = l ? 3 : 0;
			for (int i = 0; i < x->n; i++)
				x->kid[i] = mk(l - 1, r);
			return x;
		}
	};
	cur->kid[0] = B::mk(6, &r);
	Ctx c;
	memset(&c, 0, sizeof c);
	long s = 0;
	for (int i = 0; i < reps; i++)
		s += root->exec(&c, 0);
	printf("%ld %lx %ld\n", s, c.h, c.cnt);
}
