# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices and times of Nibbeling (2016), in milliseconds."""
import os

# Table 4.1: group in the collection, rows, blocks, entries of the longest row of U.
MATRICES = {
    "1138_bus": ("HB", 1138, 21, 17),
    "bodyy6": ("Pothen", 19366, 552, 8),
    "nopoly": ("Gaertner", 10774, 875, 11),
    "swang2": ("Wang", 3169, 164, 10),
    "t2dal": ("Oberwolfach", 4257, 296, 8),
    "bcsstm39": ("Boeing", 46772, 1, 1),
    "nemeth10": ("Nemeth", 9506, 9505, 35),
    "parabolic_fem": ("Wissgott", 528825, 7, 7),
    "rail_1357": ("Oberwolfach", 1357, 7, 11),
    "shallow_water1": ("MaxPlanck", 81920, 1016, 4),
    "ASIC_320ks": ("Sandia", 312671, 35, 190),
}
VECTORS = (1, 5, 50, 100)
# Matrices of the gallery with the pattern of one of these.
SAME_PATTERN = {"diagonal:46772": "bcsstm39"}

# Tables of sections 4.4.1 and 4.4.2, the thesis's and cuSPARSE's times on a GeForce GTX 980
# Ti for each number of vectors. Solves include the analysis.
MULTIPLY = {
    "1138_bus": ((0.033, 0.055), (0.054, 0.103), (0.239, 0.54), (0.375, 1.01)),
    "ASIC_320ks": ((1.59, 0.201), (7.18, 0.603), (53.3, 5.02), (100, 9.98)),
    "bcsstm39": ((0.027, 0.065), (0.041, 0.118), (0.194, 0.609), (0.365, 1.15)),
    "nemeth10": ((0.046, 0.062), (0.076, 0.107), (0.406, 0.549), (0.771, 1.02)),
    "parabolic_fem": ((0.165, 0.202), (0.571, 0.788), (5.02, 7.36), (9.98, 14.6)),
}
SOLVE = {
    "1138_bus": ((0.39, 2.95), (0.764, 3.09), (6.94, 5.12), (13.4, 7.41)),
    "ASIC_320ks": ((4.46, 14.7), (9.93, 15.9), (55.2, 21.4), (107, 32.5)),
    "bcsstm39": ((0.167, 1.79), (0.142, 1.77), (0.175, 4.39), (0.269, 6.07)),
    "bodyy6": ((5.35, 14.4), (9.96, 14.1), (176, 22.2), (368, 23)),
    "nemeth10": ((766, 190), (404, 18.4), (1950, 349), (4100, 40.9)),
    "nopoly": ((14.4, 18.1), (27.3, 18.5), (272, 33.3), (545, 48.5)),
    "parabolic_fem": ((1.19, 14.8), (1.57, 15.8), (6.5, 32.5), (12, 50.3)),
    "rail_1357": ((0.11, 2.66), (0.268, 2.84), (2.16, 4.84), (4.24, 5.31)),
    "shallow_water1": ((11.3, 26.2), (31.2, 31.2), (366, 90.3), (550, 28.9)),
    "swang2": ((2.75, 4.84), (4.91, 4.17), (53.6, 7.8), (105, 7.63)),
    "t2dal": ((4.12, 7.91), (9.29, 7.93), (91.6, 9.19), (184, 10.1)),
}

# Section 4.4.3: analysis, in the same order.
ANALYSIS = {
    "1138_bus": (0.027, 2.49),
    "bodyy6": (0.208, 30),
    "nopoly": (0.056, 10.4),
    "swang2": (0.068, 4.53),
    "t2dal": (0.0728, 6.33),
    "bcsstm39": (0.146, 2.53),
    "nemeth10": (0.405, 108),
    "parabolic_fem": (3.27, 49.8),
    "rail_1357": (0.0155, 2.29),
    "shallow_water1": (0.341, 30.3),
    "ASIC_320ks": (3.32, 21.3),
}


def find_matrices(folder):
    """({name: file} of MATRICES that are in `folder` as name.mtx or name.mtx.gz,
    [names of the others])"""
    paths = [(name, os.path.join(folder or "", name + ending))
             for name in MATRICES for ending in (".mtx.gz", ".mtx")]
    found = {name: path for name, path in paths if folder and os.path.isfile(path)}
    return found, [name for name in MATRICES if name not in found]


def name_in_thesis(matrix):
    return SAME_PATTERN.get(matrix, matrix)


def shown(matrix):
    return "%s (`%s`)" % (SAME_PATTERN[matrix], matrix) if matrix in SAME_PATTERN \
        else matrix


def where_to_get(name):
    return "https://sparse.tamu.edu/%s/%s" % (MATRICES[name][0], name)


def pair(table, name, vectors):
    """(the thesis's, cuSPARSE's) milliseconds; None where the table has none."""
    numbers = table.get(name_in_thesis(name))
    return numbers[VECTORS.index(vectors)] if numbers else (None, None)
