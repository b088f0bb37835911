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

# Tables of sections 4.4.1 and 4.4.2, {vectors: (the thesis's and cuSPARSE's on a GTX
# 980 Ti, the same on a GTX 480)}. Solves include the analysis.
MULTIPLY = {
    "1138_bus": {
        1: (0.033, 0.055, 0.073, 0.065),
        5: (0.054, 0.103, 0.122, 0.142),
        50: (0.239, 0.54, 0.36, 0.906),
        100: (0.375, 1.01, 0.651, 1.61),
    },
    "ASIC_320ks": {
        1: (1.59, 0.201, 2.82, 0.397),
        5: (7.18, 0.603, 13.1, 1.36),
        50: (53.3, 5.02, 128, 12.1),
        100: (100, 9.98, 256, 24.1),
    },
    "bcsstm39": {
        1: (0.027, 0.065, 0.062, 0.09),
        5: (0.041, 0.118, 0.125, 0.225),
        50: (0.194, 0.609, 0.772, 1.68),
        100: (0.365, 1.15, 1.49, 3.31),
    },
    "nemeth10": {
        1: (0.046, 0.062, 0.168, 0.103),
        5: (0.076, 0.107, 0.554, 0.178),
        50: (0.406, 0.549, 4.52, 1.14),
        100: (0.771, 1.02, 8.88, 2.24),
    },
    "parabolic_fem": {
        1: (0.165, 0.202, 0.966, 0.586),
        5: (0.571, 0.788, 4.11, 2.24),
        50: (5.02, 7.36, 40, 20.8),
        100: (9.98, 14.6, 80.6, 41.4),
    },
}

SOLVE = {
    "1138_bus": {
        1: (0.39, 2.95, 0.41, 5.39),
        5: (0.764, 3.09, 1.58, 4.51),
        50: (6.94, 5.12, 14.9, 9.69),
        100: (13.4, 7.41, 29.9, 14.6),
    },
    "ASIC_320ks": {
        1: (4.46, 14.7, 9.06, 18.1),
        5: (9.93, 15.9, 32.4, 21.3),
        50: (55.2, 21.4, 296, 57.5),
        100: (107, 32.5, 590, 97.6),
    },
    "bcsstm39": {
        1: (0.167, 1.79, 0.226, 4.47),
        5: (0.142, 1.77, 0.244, 3.99),
        50: (0.175, 4.39, 0.592, 7.65),
        100: (0.269, 6.07, 0.972, 11.2),
    },
    "bodyy6": {
        1: (5.35, 14.4, 7.96, 12.8),
        5: (9.96, 14.1, 34.8, 12.3),
        50: (176, 22.2, 367, 18.1),
        100: (368, 23, 664, 22.8),
    },
    "nemeth10": {
        1: (766, 190, 453, 139),
        5: (404, 18.4, 1880, 166),
        50: (1950, 349, 18100, 193),
        100: (4100, 40.9, 36100, 294),
    },
    "nopoly": {
        1: (14.4, 18.1, 14.1, 16.6),
        5: (27.3, 18.5, 72.2, 16.2),
        50: (272, 33.3, 559, 45.4),
        100: (545, 48.5, 1100, 72.5),
    },
    "parabolic_fem": {
        1: (1.19, 14.8, 4.84, 27.7),
        5: (1.57, 15.8, 7.79, 32.2),
        50: (6.5, 32.5, 40.4, 83.2),
        100: (12, 50.3, 77.1, 138),
    },
    "rail_1357": {
        1: (0.11, 2.66, 0.173, 3.85),
        5: (0.268, 2.84, 0.671, 4.29),
        50: (2.16, 4.84, 6.25, 9.35),
        100: (4.24, 5.31, 12.3, 12.6),
    },
    "shallow_water1": {
        1: (11.3, 26.2, 13, 21),
        5: (31.2, 31.2, 76, 30.3),
        50: (366, 90.3, 624, 136),
        100: (550, 28.9, 1200, 258),
    },
    "swang2": {
        1: (2.75, 4.84, 2.66, 6.01),
        5: (4.91, 4.17, 10.6, 6.08),
        50: (53.6, 7.8, 105, 7.28),
        100: (105, 7.63, 210, 9),
    },
    "t2dal": {
        1: (4.12, 7.91, 4.48, 7.38),
        5: (9.29, 7.93, 22.3, 7.49),
        50: (91.6, 9.19, 175, 9.64),
        100: (184, 10.1, 361, 11.9),
    },
}

# Section 4.4.3: analysis, in the same order.
ANALYSIS = {
    "1138_bus": (0.027, 2.49, 0.0229, 5.23),
    "bodyy6": (0.208, 30, 0.245, 10.4),
    "nopoly": (0.056, 10.4, 0.139, 14),
    "swang2": (0.068, 4.53, 0.0473, 4.51),
    "t2dal": (0.0728, 6.33, 0.0616, 6.49),
    "bcsstm39": (0.146, 2.53, 0.202, 4.53),
    "nemeth10": (0.405, 108, 0.418, 127),
    "parabolic_fem": (3.27, 49.8, 5.09, 26.8),
    "rail_1357": (0.0155, 2.29, 0.0193, 3.97),
    "shallow_water1": (0.341, 30.3, 0.709, 17),
    "ASIC_320ks": (3.32, 21.3, 10.5, 17.3),
}


def find_matrices(folder):
    """({name: file} of MATRICES that are in `folder` as name.mtx or name.mtx.gz,
    [names of the others])"""
    found = {}
    for name in MATRICES:
        for ending in (".mtx", ".mtx.gz"):
            path = os.path.join(folder or "", name + ending)
            if folder and os.path.isfile(path):
                found[name] = path
                break
    return found, [name for name in MATRICES if name not in found]


def name_in_thesis(matrix):
    return SAME_PATTERN.get(matrix, matrix)


def shown(matrix):
    return "%s (`%s`)" % (SAME_PATTERN[matrix], matrix) if matrix in SAME_PATTERN \
        else matrix


def where_to_get(name):
    return "https://sparse.tamu.edu/%s/%s" % (MATRICES[name][0], name)


def pair(table, name, vectors, gpu=0):
    """(the thesis's, cuSPARSE's) milliseconds; gpu 0: GTX 980 Ti, 1: GTX 480. None
    where the table has none."""
    numbers = table.get(name_in_thesis(name), {}).get(vectors)
    return numbers[2 * gpu:2 * gpu + 2] if numbers else (None, None)
