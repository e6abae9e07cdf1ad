/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cct_thin: a smaller tree with the same sums, as if fewer samples had been taken.
 *
 * The rare call paths of a thread are put in a row, in the order of a walk through the tree, and some of them
 * are kept, at equal distances in samples: each represents the samples around it. So every function and every
 * call path still gets its share on average, and a subtree is never wrong by more than one such distance at
 * each of its ends. Frequent paths are not changed.
 *
 * Folding (cct_fold.h) keeps what is certain and loses the innermost functions of rare paths. In a program in
 * which nearly every path is rare, like a compiler, that is nearly all of them.
 */
#pragma once

#include "unwinder/cct.h"

/*
 * ret: a new tree, in which no path of a thread has fewer than least samples, except for threads with fewer.
 * Threads keep the sums of all metrics, and their numbers of complete and of incomplete stacks. Represented
 * samples count in the round of the one that represents them, so that confidence intervals become wider by
 * the right amount, and activations in proportion to samples. Returns the number of samples that are now
 * represented by those of another path. Equal seeds give equal trees.
 */
uint64_t cct_thin(const struct cct *from, uint64_t least, uint64_t seed, struct cct *ret);
