/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain: what most programs do: recursion, callbacks, switches, formatting, regular expressions.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree {
	struct tree *left, *right;
	int key;
};

__attribute__((noinline)) static struct tree *insert(struct tree *tree, int key)
{
	if (!tree) {
		tree = calloc(1, sizeof(*tree));
		tree->key = key;
	} else if (key < tree->key) {
		tree->left = insert(tree->left, key);
	} else {
		tree->right = insert(tree->right, key);
	}
	return tree;
}

__attribute__((noinline)) static double fold(const struct tree *tree, double (*step)(int, double),
					     double value)
{
	if (!tree)
		return value;
	value = fold(tree->left, step, value);
	value = step(tree->key, value);
	return fold(tree->right, step, value);
}

static double mix(int key, double value)
{
	switch (key % 11) {
	case 0:
		return value + key;
	case 1:
		return value - key;
	case 2:
		return value * 1.01;
	case 3:
		return value / 1.01;
	case 5:
		return -value;
	case 6:
		return value + 0.5;
	case 7:
		return key;
	case 9:
		return value - 3;
	default:
		return value;
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int main(void)
{
	static char lines[200][40];
	struct tree *tree = NULL;
	regex_t pattern;
	int n_matches = 0;

	for (int i = 0; i < 200; i++) {
		tree = insert(tree, i * 7919 % 1009);
		snprintf(lines[i], sizeof(lines[i]), "line %d is %.6g", i * 31 % 200, fold(tree, mix, i));
	}
	qsort(lines, 200, sizeof(lines[0]), compare);
	regcomp(&pattern, "line ([0-9]+)5 is (-?[0-9.]+)", REG_EXTENDED);
	for (int i = 0; i < 200; i++)
		n_matches += regexec(&pattern, lines[i], 0, NULL, 0) == 0;
	regfree(&pattern);
	printf("%s, %d matches\n", lines[100], n_matches);
	return 0;
}
