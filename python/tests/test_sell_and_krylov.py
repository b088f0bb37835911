# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import (
    DTYPES, INDICES, LAYOUTS, in_layout, laplacian, random_array, random_matrix, tolerance,
)
from hypothesis import given
from hypothesis import strategies as st

import strata_solvers as strata


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40),
       st.sampled_from(DTYPES), st.sampled_from(INDICES), st.sampled_from(LAYOUTS),
       st.sampled_from([None, 1, 4, 9]))
def test_products(seed, m, n, dtype, index, layout, k):
    rng = np.random.default_rng(seed)
    A = random_matrix(rng, m, n, 4 * m, dtype, index=index)
    S = strata.SellMatrix(A)
    assert S.shape == A.shape and S.dtype == A.dtype
    x = in_layout(random_array(rng, n if k is None else (n, k), dtype), layout)
    y = S @ x
    assert y.dtype == A.dtype
    np.testing.assert_allclose(y, A @ x, atol=10 * tolerance(dtype))
    to = in_layout(random_array(rng, y.shape, dtype), "C")
    wanted = 2 * (A @ x) + 0.5 * to
    assert S.apply(x, to, alpha=2, beta=0.5) is to
    np.testing.assert_allclose(to, wanted, atol=10 * tolerance(dtype))


def test_sell_update_and_pickle(rng):
    A = random_matrix(rng, 30, 20, 100, "float64")
    S = strata.SellMatrix(A, sigma=8, chunk_rows=4)
    x = rng.random(20)
    for new in ((A * 2).tocsr(), (A.data * 3)):
        S.update(new)
        data = new if isinstance(new, np.ndarray) else new.data
        np.testing.assert_allclose(S @ x, (data[0] / A.data[0]) * (A @ x))
    again = pickle.loads(pickle.dumps(S))
    assert (again @ x == S @ x).all() and again.report().chunk_rows == 4
    assert S.report().entries == A.nnz and "30 x 20" in repr(S)
    other = random_matrix(rng, 30, 20, 100, "float64")
    other.data = other.data[: other.nnz]
    with pytest.raises(strata.Error):
        S.update(other)


def test_sell_refuses(rng):
    A = random_matrix(rng, 30, 20, 100, "float64")
    S = strata.SellMatrix(A)
    out = np.full(30, 7.0)
    for x, options in ((np.ones(30), {}), (np.ones(20, "complex128"), {}),
                       (np.ones((20, 2)), {}), (np.ones(20), dict(alpha=1j))):
        with pytest.raises(strata.Error):
            S.apply(x, out, **options)
    assert (out == 7).all()
    for wrong in (dict(alpha="much"), dict(beta=None), dict(alpha=[1, 2])):
        with pytest.raises(strata.TypeMismatchError, match="pass a number"):
            S.apply(np.ones(20), out, **wrong)
    np.testing.assert_array_equal(S.apply(np.ones(20), alpha=np.float32(2)), 2 * (S @ np.ones(20)))
    with pytest.raises(strata.OptionError):
        S.apply(np.ones(20), beta=1)
    with pytest.raises(strata.OptionError):
        strata.SellMatrix(A, chunk_rows=-1)
    np.testing.assert_allclose(np.ones(30) @ S, np.ones(30) @ A)
    square = strata.SellMatrix(laplacian(4))
    x = np.ones(16)
    with pytest.raises(strata.AliasError):
        square.apply(x, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("M", [None, "jacobi", "ic0", "ilu0"])
def test_cg(rng, dtype, M):
    A = laplacian(16, dtype)
    if np.dtype(dtype).kind == "c":
        A = (A + 0.1j * (sp.triu(A, 1) - sp.tril(A, -1))).tocsr().astype(dtype)
        A.sort_indices()
    b = random_array(rng, 256, dtype)
    of = getattr(strata, M)(A) if M in ("ic0", "ilu0") else M
    rtol = 1e-4 if np.dtype(dtype).char in "fF" else 1e-9
    x, info = strata.cg(A, b, M=of, rtol=rtol)
    assert info == 0 and info.status == "converged" and x.dtype == dtype
    assert np.linalg.norm(A @ x - b) <= 2.5 * rtol * np.linalg.norm(b)
    assert len(info.history) == info.iterations + 1
    y, again = strata.cg(strata.SellMatrix(A), b, x0=x, M=of, rtol=rtol)
    assert again.iterations <= 1 and y is not x
    if M is None and dtype == "float64":
        count = []
        z, _ = spla.cg(A, b, rtol=rtol, callback=count.append)
        assert abs(len(count) - info.iterations) <= 1
        np.testing.assert_allclose(x, z, atol=1e-6)


def test_cg_says_how_it_ended(rng):
    A = laplacian(16)
    b = rng.random(256)
    _, info = strata.cg(A, b, maxiter=3)
    assert info == 3 and info.status == "max_iterations" and "3 iterations" in repr(info)
    _, info = strata.cg((-1.0 * A).tocsr(), b)
    assert info < 0 and info.status == "indefinite_matrix"
    _, info = strata.cg(A, b * np.nan)
    assert info < 0 and info.status == "not_finite"
    norms = []
    _, info = strata.cg(A, b, progress=lambda k, norm: norms.append(norm) or len(norms) < 5)
    assert info.status == "stopped" and len(norms) == 5 and norms == info.history[:5]
    with pytest.raises(ZeroDivisionError):
        strata.cg(A, b, progress=lambda k, norm: 1 / 0)


def test_divergence_is_told():
    n = 100
    neumann = sp.diags_array(np.r_[1.0, 2 * np.ones(n - 2), 1]).tolil()
    neumann = (neumann - sp.eye_array(n, k=1) - sp.eye_array(n, k=-1)).tocsr()
    neumann.sort_indices()
    for dtol in (1e5, np.inf):
        x, info = strata.cg(neumann, np.ones(n), M="jacobi", maxiter=1000, dtol=dtol)
        assert info == -5 and info.status == "diverged"
        assert (info.iterations < 1000) == (dtol == 1e5)
        assert max(info.history) > 1e5 * info.rhs_norm
    # Singular but for rounding, which decides when BiCGStab diverges. With a conjugate pair
    # on the diagonal, it does on any machine.
    z = -0.13627952880333782 + 2j * np.pi
    for other in (z, z.conjugate()):
        A = np.diag([-0.1112795288033378, z, other, -0.16127952880333785])
        A[0, 3], A[3, 0] = 0.16127952880333685, 0.1112795288033368
        for iterations in (5, 10, 20, 40, 400):
            x, info = strata.bicgstab(sp.csr_array(A), np.ones(4, complex), rtol=1e-12,
                                      maxiter=iterations)
            worse = np.linalg.norm(A @ x - 1) > 2.002
            assert not worse or (info == -5 and info.status == "diverged")
    assert info.status == "diverged" and info.iterations < 400
    with pytest.raises(strata.OptionError, match="divergence_tolerance"):
        strata.bicgstab(sp.csr_array(A), np.ones(4, complex), dtol=0.5)


@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_callbacks_hear_of_each_iteration_once(scale):
    told = []
    # GMRES stagnates on a cyclic shift, whatever the scale.
    shift = sp.csr_array((np.ones(12), (np.arange(12), np.roll(np.arange(12), 1))))
    b = np.zeros(12)
    b[0] = scale
    x, info = strata.gmres(shift, b, restart=5, maxiter=20,
                           progress=lambda iteration, norm: told.append((iteration, norm)))
    assert info != 0 and [iteration for iteration, norm in told] == list(range(len(told)))
    assert all(norm == scale for iteration, norm in told)
    told.clear()
    x, info = strata.cg(laplacian(8), scale * np.ones(64),
                        progress=lambda iteration, norm: told.append((iteration, norm)))
    assert info == 0 and [iteration for iteration, norm in told] == list(range(len(told)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
@pytest.mark.parametrize("M", [None, "jacobi", "ic0"])
@given(seed=st.integers(0, 2**32 - 1), power=st.floats(0.3, 0.9), down=st.booleans())
def test_solutions_scale_with_b(dtype, method, M, seed, power, down):
    rng = np.random.default_rng(seed)
    A = laplacian(8, dtype)
    b = random_array(rng, 64, dtype)
    x0 = random_array(rng, 64, dtype) if seed % 2 else None
    of = strata.ic0(A) if M == "ic0" else M
    rtol = 1e-4 if np.dtype(dtype).char in "fF" else 1e-9
    real = np.dtype(dtype).type(0).real.dtype.type
    scale = real(2.0) ** int((-power if down else power) * np.log2(float(np.finfo(real).max)))
    solve = getattr(strata, method)
    x, info = solve(A, b, x0=x0, M=of, rtol=rtol)
    y, scaled = solve(A, scale * b, x0=None if x0 is None else scale * x0, M=of, rtol=rtol)
    assert info == scaled == 0 and info.iterations == scaled.iterations
    if power < 0.8:
        assert (y == scale * x).all()
    else:  # small parts are denormal
        np.testing.assert_allclose(y / scale, x, atol=10 * rtol)
    assert scaled.residual_norm == pytest.approx(float(scale) * info.residual_norm)


def test_cg_refuses(rng):
    A = laplacian(4)
    b = np.ones(16)
    for arguments in ((A, b[:-1]), (A, np.ones((16, 2))), (None, b),
                      (sp.csr_array((3, 4)), np.ones(4)), (strata.SellMatrix(A), b * 1j)):
        with pytest.raises(strata.Error):
            strata.cg(*arguments)
    for options in (dict(rtol=-1), dict(rtol=np.nan), dict(maxiter=-1), dict(M="ilu"),
                    dict(M=np.eye(15)), dict(M=strata.ilu0(laplacian(5))), dict(M=3),
                    dict(M=spla.splu(A.tocsc())), dict(M=lambda r: r[1:]),
                    dict(M=lambda r: 1j * r), dict(x0=np.ones(15))):
        with pytest.raises(strata.Error):
            strata.cg(A, b, **options)
    with pytest.raises(strata.IndefiniteError):
        strata.cg((-1.0 * A).tocsr(), b, M="jacobi")


def unsymmetric(k, dtype):
    """Diffusion and a wind: not Hermitian."""
    A = laplacian(k).tolil()
    A = (A + sp.diags_array(0.4 * np.ones(k * k - 1), offsets=1)).tocsr()
    A.sort_indices()
    A = A.astype(dtype)
    if np.dtype(dtype).kind == "c":
        A.data += 0.05j
    return A


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("method", ["gmres", "bicgstab"])
@pytest.mark.parametrize("M", [None, "ilu0"])
def test_krylov_methods(rng, dtype, index, method, M):
    A = unsymmetric(12, dtype)
    A.indptr, A.indices = A.indptr.astype(index), A.indices.astype(index)
    b = random_array(rng, 144, dtype)
    of = strata.ilu0(A) if M else None
    rtol = 1e-4 if np.dtype(dtype).char in "fF" else 1e-9
    solve = getattr(strata, method)
    x, info = solve(A, b, M=of, rtol=rtol)
    assert info == 0 and info.status == "converged" and x.dtype == dtype
    assert np.linalg.norm(A @ x - b) <= 2.5 * rtol * np.linalg.norm(b)
    assert len(info.history) == info.iterations + 1
    y, again = solve(strata.SellMatrix(A), in_layout(b, "strided"), x0=x, M=of, rtol=rtol)
    assert again.iterations <= 1 and y is not x
    if M:
        assert info.iterations < solve(A, b, rtol=rtol)[1].iterations
    assert pickle.loads(pickle.dumps(info)).history == info.history


def test_krylov_methods_say_how_they_ended(rng):
    A = unsymmetric(12, "float64")
    b = rng.random(144)
    for solve in (strata.gmres, strata.bicgstab):
        _, info = solve(A, b, maxiter=3, rtol=1e-12)
        assert info == 3 and info.status == "max_iterations" and "3 iterations" in repr(info)
        _, info = solve(A, b * np.nan)
        assert info == -3 and info.status == "not_finite"
        norms = []
        _, info = solve(A, b, rtol=1e-12,
                        progress=lambda k, norm: norms.append(norm) or len(norms) < 3)
        assert info.status == "stopped" and norms == info.history[:3]
        with pytest.raises(ZeroDivisionError):
            solve(A, b, progress=lambda k, norm: 1 / 0)
        for arguments in ((A, b[:-1]), (A, np.ones((144, 2))), (None, b),
                          (sp.csr_array((3, 4)), np.ones(4)), (strata.SellMatrix(A), b * 1j)):
            with pytest.raises(strata.Error):
                solve(*arguments)
    _, info = strata.gmres(sp.csr_array(([0.0], ([0], [0])), shape=(2, 2)), np.ones(2))
    assert info == -4 and info.status == "breakdown"
    few, many = (strata.gmres(A, b, rtol=1e-9, restart=m)[1].iterations for m in (3, 60))
    assert many < few
    for options in (dict(restart=0), dict(restart=2.5), dict(restart=10**6)):
        with pytest.raises(strata.OptionError, match="restart"):
            strata.gmres(A, b, **options)
    with pytest.raises(strata.OptionError, match="max_new_starts"):
        strata.bicgstab(A, b, max_new_starts=-1)
