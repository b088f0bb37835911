// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A Krylov method with block factors on Poisson's equation, n^3 points a rank
// or in all, with strata and with PETSc's own solver types.
//
//   -n N                edge of a rank's box; default: 32
//   -grid N             instead of -n: edge of the whole grid, which the ranks
//                       divide; the column n has it, with "/ranks"
//   -stencils LIST      of 7 and 27; default: 7,27
//   -pcs LIST           of bjacobi and asm; default: bjacobi,asm
//   -configurations LIST  matrix type/solver type; default: what this PETSc has
//                       of aij/petsc, aijkokkos/kokkos, aijcusparse/cusparse,
//                       aij/strata and aijkokkos/strata
//   -applications K     MatSolves that are timed; default: 20
//   -rtol R             of the preconditioned residual; default: 1e-8
//   -bench_ksp_type T   such as pipecg, instead of cg; KSP's other options
//                       take the prefix bench_, too
//
// A line for each: times in milliseconds, the longest of all ranks; the true
// residual ||b - A x|| / ||b||, and WRONG where it is above 100 R or the solve
// failed. The second solve has other values on the same pattern, which are in
// the memory of the device when its time starts. The last columns are what an
// iteration is made of: one MatMult, VecDot, VecAXPY, and the exchange of the
// halo that MatMult waits for. The exit status is 1 where strata was WRONG.
// Before each configuration there is a small solve that is not timed.

#include <petscdevice.h>
#include <petscksp.h>
#include <petscstrata.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

// The ranks' boxes in a grid, x fastest.
struct Boxes {
  int ranks, rank, dims[3], at[3];
  PetscInt n[3];  // of one box
  PetscInt rows() const { return n[0] * n[1] * n[2]; }
};
// Of n^3 points each; `whole` has n^3 points in all boxes together.
Boxes make_boxes(PetscInt n, bool whole = false) {
  Boxes boxes;
  int dims[3] = {0, 0, 0};
  MPI_Comm_size(PETSC_COMM_WORLD, &boxes.ranks);
  MPI_Comm_rank(PETSC_COMM_WORLD, &boxes.rank);
  MPI_Dims_create(boxes.ranks, 3, dims);
  for (int d = 0; d < 3; ++d) {
    boxes.dims[d] = dims[2 - d];
    boxes.n[d] = whole ? n / boxes.dims[d] : n;
  }
  boxes.at[0] = boxes.rank % boxes.dims[0];
  boxes.at[1] = boxes.rank / boxes.dims[0] % boxes.dims[1];
  boxes.at[2] = boxes.rank / (boxes.dims[0] * boxes.dims[1]);
  return boxes;
}

// The row of a point of the whole grid, -1 outside.
PetscInt row_of(const Boxes& boxes, const PetscInt (&point)[3]) {
  PetscInt box = 0, inside = 0;
  for (int d = 2; d >= 0; --d) {
    const PetscInt n = boxes.n[d];
    if (point[d] < 0 || point[d] >= n * boxes.dims[d]) return -1;
    box = box * boxes.dims[d] + point[d] / n;
    inside = inside * n + point[d] % n;
  }
  return box * boxes.rows() + inside;
}

// The rank's rows with the columns of the whole matrix, which are ascending in
// each row: 6 and -1, or 26 and -1.
struct Rows {
  std::vector<PetscInt> row_map, columns;
  std::vector<PetscScalar> values;
};
Rows make_rows(const Boxes& boxes, int stencil) {
  const auto& n = boxes.n;
  Rows rows;
  rows.row_map.reserve(boxes.rows() + 1);
  rows.row_map.push_back(0);
  rows.columns.reserve(boxes.rows() * stencil);
  rows.values.reserve(boxes.rows() * stencil);
  for (PetscInt k = 0; k < n[2]; ++k)
    for (PetscInt j = 0; j < n[1]; ++j)
      for (PetscInt i = 0; i < n[0]; ++i) {
        const PetscInt point[3] = {boxes.at[0] * n[0] + i,
                                   boxes.at[1] * n[1] + j,
                                   boxes.at[2] * n[2] + k};
        const PetscInt row = row_of(boxes, point);
        PetscInt columns[27], count = 0;
        for (int c = -1; c <= 1; ++c)
          for (int b = -1; b <= 1; ++b)
            for (int a = -1; a <= 1; ++a) {
              if (stencil == 7 && a * a + b * b + c * c > 1) continue;
              const PetscInt other[3] = {point[0] + a, point[1] + b,
                                         point[2] + c};
              const PetscInt column = row_of(boxes, other);
              if (column >= 0) columns[count++] = column;
            }
        // Neighbours in other boxes are out of order.
        std::sort(columns, columns + count);
        for (PetscInt e = 0; e < count; ++e) {
          rows.columns.push_back(columns[e]);
          rows.values.push_back(columns[e] == row ? PetscReal(stencil - 1)
                                                  : PetscReal(-1));
        }
        rows.row_map.push_back(static_cast<PetscInt>(rows.columns.size()));
      }
  return rows;
}

PetscErrorCode now(double* time) {
  PetscDeviceContext context;
  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  *time = MPI_Wtime();
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Solve {
  double setup = 0, apply = 0, solve = 0;
  double multiply = 0, dot = 0, axpy = 0, halo = 0;
  PetscInt iterations = 0;
  PetscReal residual = 0;
  bool right = false;
};

struct Problem {
  Mat A = NULL;
  Vec x = NULL, b = NULL, r = NULL;
  KSP ksp = NULL;
};

PetscErrorCode make_problem(const Boxes& boxes, const Rows& rows,
                            const char* pc_type, const std::string& type,
                            const std::string& solver, PetscReal tolerance,
                            Problem& problem) {
  const PetscInt mine = boxes.rows();
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &problem.A));
  PetscCall(MatSetSizes(problem.A, mine, mine, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetType(problem.A, type.c_str()));
  // Each does nothing for the other kind of matrix.
  PetscCall(MatSeqAIJSetPreallocationCSR(
      problem.A, rows.row_map.data(), rows.columns.data(), rows.values.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(
      problem.A, rows.row_map.data(), rows.columns.data(), rows.values.data()));
  PetscCall(MatSetOption(problem.A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(problem.A, &problem.x, &problem.b));
  PetscCall(VecDuplicate(problem.b, &problem.r));
  PetscCall(VecSet(problem.b, 1.0));
  PetscCall(PetscOptionsSetValue(NULL, "-bench_sub_pc_type", "ilu"));
  PetscCall(PetscOptionsSetValue(NULL, "-bench_sub_pc_factor_mat_solver_type",
                                 solver.c_str()));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &problem.ksp));
  PetscCall(KSPSetOptionsPrefix(problem.ksp, "bench_"));
  PetscCall(KSPSetType(problem.ksp, KSPCG));
  PetscCall(KSPSetTolerances(problem.ksp, tolerance, PETSC_DEFAULT,
                             PETSC_DEFAULT, 10000));
  PetscCall(KSPGetPC(problem.ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  // CG wants a symmetric preconditioner.
  if (std::string(pc_type) == "asm") PetscCall(PCASMSetType(pc, PC_ASM_BASIC));
  PetscCall(KSPSetOperators(problem.ksp, problem.A, problem.A));
  PetscCall(KSPSetFromOptions(problem.ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Problem& problem) {
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&problem.ksp));
  PetscCall(VecDestroy(&problem.r));
  PetscCall(VecDestroy(&problem.b));
  PetscCall(VecDestroy(&problem.x));
  PetscCall(MatDestroy(&problem.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the rank's own factor: a MatSolve alone.
PetscErrorCode time_applications(const Problem& problem, PetscInt applications,
                                 double* apply) {
  PC pc;
  KSP* blocks;
  PetscBool is_asm;
  Mat F, block;
  Vec x, b;
  PetscReal norm;
  double start, end;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(problem.ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &is_asm));
  if (is_asm)
    PetscCall(PCASMGetSubKSP(pc, NULL, NULL, &blocks));
  else
    PetscCall(PCBJacobiGetSubKSP(pc, NULL, NULL, &blocks));
  PetscCall(KSPGetPC(blocks[0], &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(KSPGetOperators(blocks[0], NULL, &block));
  PetscCall(MatCreateVecs(block, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(MatSolve(F, b, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(now(&start));
  for (PetscInt k = 0; k < applications; ++k) PetscCall(MatSolve(F, b, x));
  PetscCall(now(&end));
  *apply = applications ? 1e3 * (end - start) / applications : 0;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Other values of all entries, on the same pattern.
PetscErrorCode set_values(Mat A, const std::vector<PetscScalar>& values) {
  PetscBool parallel;
  PetscScalar* a;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) {
    PetscCall(MatUpdateMPIAIJWithArray(A, values.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetArrayWrite(A, &a));
  std::copy(values.begin(), values.end(), a);
  PetscCall(MatSeqAIJRestoreArrayWrite(A, &a));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The mean time of an operation in milliseconds, after one that is not timed.
template <class Operation>
PetscErrorCode time_of(PetscInt applications, const Operation& operation,
                       double* time) {
  double start, end;

  PetscFunctionBeginUser;
  PetscCall(operation());
  PetscCall(now(&start));
  for (PetscInt k = 0; k < applications; ++k) PetscCall(operation());
  PetscCall(now(&end));
  *time = applications ? 1e3 * (end - start) / applications : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What an iteration has beside MatSolve.
PetscErrorCode time_operations(const Problem& problem, PetscInt applications,
                               Solve* result) {
  Mat off_diagonal;
  const PetscInt* halo_columns;
  PetscInt halo;
  Vec ghosts;
  IS from, to;
  VecScatter scatter;
  PetscScalar product;

  PetscFunctionBeginUser;
  PetscCall(time_of(
      applications, [&] { return MatMult(problem.A, problem.x, problem.r); },
      &result->multiply));
  PetscCall(time_of(
      applications, [&] { return VecDot(problem.x, problem.r, &product); },
      &result->dot));
  PetscCall(time_of(
      applications, [&] { return VecAXPY(problem.r, 1e-3, problem.x); },
      &result->axpy));
  PetscMPIInt ranks;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(problem.A, NULL, &off_diagonal, &halo_columns));
  PetscCall(MatGetSize(off_diagonal, NULL, &halo));
  PetscCall(MatCreateVecs(off_diagonal, &ghosts, NULL));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, halo, halo_columns,
                            PETSC_COPY_VALUES, &from));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, halo, 0, 1, &to));
  PetscCall(VecScatterCreate(problem.x, from, ghosts, to, &scatter));
  const auto exchange = [&]() -> PetscErrorCode {
    PetscFunctionBeginUser;
    PetscCall(VecScatterBegin(scatter, problem.x, ghosts, INSERT_VALUES,
                              SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, problem.x, ghosts, INSERT_VALUES,
                            SCATTER_FORWARD));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(time_of(applications, exchange, &result->halo));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&to));
  PetscCall(ISDestroy(&from));
  PetscCall(VecDestroy(&ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(const Problem& problem, PetscInt applications,
                   PetscReal tolerance, Solve* result) {
  double start, ready, end;
  PetscReal size;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  // Brings the values to the device.
  PetscCall(MatMult(problem.A, problem.b, problem.r));
  PetscCall(now(&start));
  // Without it, KSPSetUp leaves new values to KSPSolve.
  PetscCall(KSPSetOperators(problem.ksp, problem.A, problem.A));
  PetscCall(KSPSetUp(problem.ksp));
  PetscCall(KSPSetUpOnBlocks(problem.ksp));
  PetscCall(now(&ready));
  PetscCall(KSPSolve(problem.ksp, problem.b, problem.x));
  PetscCall(now(&end));
  result->setup = 1e3 * (ready - start);
  result->solve = 1e3 * (end - ready);
  PetscCall(KSPGetConvergedReason(problem.ksp, &reason));
  PetscCall(KSPGetIterationNumber(problem.ksp, &result->iterations));
  PetscCall(MatMult(problem.A, problem.x, problem.r));
  PetscCall(VecAYPX(problem.r, -1.0, problem.b));
  PetscCall(VecNorm(problem.r, NORM_2, &result->residual));
  PetscCall(VecNorm(problem.b, NORM_2, &size));
  result->residual /= size;
  // What is no number is wrong, too.
  result->right = reason > 0 && result->residual <= 100 * tolerance;
  if (reason != KSP_DIVERGED_PC_FAILED)
    PetscCall(time_applications(problem, applications, &result->apply));
  PetscCall(time_operations(problem, applications, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode measure(const Boxes& boxes, const Rows& rows, const char* pc,
                       const std::string& type, const std::string& solver,
                       PetscInt applications, PetscReal tolerance,
                       Solve (&results)[2]) {
  Problem problem;

  PetscFunctionBeginUser;
  PetscCall(make_problem(boxes, rows, pc, type, solver, tolerance, problem));
  PetscCall(run(problem, applications, tolerance, &results[0]));
  // Positive definite as before: smaller entries off the diagonal.
  std::vector<PetscScalar> values = rows.values;
  for (auto& value : values)
    if (PetscRealPart(value) < 0) value *= PetscReal(0.98);
  PetscCall(set_values(problem.A, values));
  PetscCall(run(problem, applications, tolerance, &results[1]));
  PetscCall(destroy(problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  PetscInt n = 32, applications = 20;
  PetscReal tolerance = 1e-8;
  char stencils[64] = "7,27", pcs[64] = "bjacobi,asm";
  char configurations[512] =
      "aij/petsc,aijkokkos/kokkos,"
#if defined(PETSC_HAVE_CUDA)
      "aijcusparse/cusparse,"
#endif
      "aij/strata,aijkokkos/strata";
  bool right = true;
  PetscBool whole = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatSolverTypeRegister_Strata());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-grid", &n, &whole));
  PetscCall(
      PetscOptionsGetInt(NULL, NULL, "-applications", &applications, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &tolerance, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-stencils", stencils,
                                  sizeof(stencils), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pcs", pcs, sizeof(pcs), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-configurations", configurations,
                                  sizeof(configurations), NULL));
  PetscCheck(
      n >= 1 && n <= 1000 && applications >= 0 && tolerance > 0,
      PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
      "-n and -grid are from 1 to 1000, -applications not negative, -rtol "
      "positive");
  for (const auto& stencil : split(stencils))
    PetscCheck(stencil == "7" || stencil == "27", PETSC_COMM_WORLD,
               PETSC_ERR_ARG_OUTOFRANGE, "-stencils are 7 and 27, not '%s'",
               stencil.c_str());
  for (const auto& pc : split(pcs))
    PetscCheck(pc == "bjacobi" || pc == "asm", PETSC_COMM_WORLD,
               PETSC_ERR_ARG_OUTOFRANGE, "-pcs are bjacobi and asm, not '%s'",
               pc.c_str());
  for (const auto& configuration : split(configurations))
    PetscCheck(configuration.find('/') != std::string::npos, PETSC_COMM_WORLD,
               PETSC_ERR_ARG_OUTOFRANGE,
               "-configurations are matrix type/solver type, not '%s'",
               configuration.c_str());

  PetscCheck(n * n * n <= PETSC_INT_MAX / 27, PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE,
             "an edge of %" PetscInt_FMT
             " makes more entries than this PETSc's indices count",
             n);

  const Boxes boxes = make_boxes(n, whole), small = make_boxes(PetscMin(n, 8));
  for (int d = 0; d < 3; ++d)
    PetscCheck(!whole || n % boxes.dims[d] == 0, PETSC_COMM_WORLD,
               PETSC_ERR_ARG_OUTOFRANGE,
               "a grid with an edge of %" PetscInt_FMT
               " is not divided by %d boxes",
               n, boxes.dims[d]);
  // A line that is out stays, should the next configuration never end.
  setvbuf(stdout, NULL, _IOLBF, 0);
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "ranks,n,stencil,pc,configuration,solve,setup_ms,matsolve_ms,solve_ms,"
      "total_ms,iterations,true_residual,verdict,matmult_ms,dot_ms,axpy_ms,"
      "halo_ms\n"));
  for (const auto& stencil : split(stencils)) {
    const Rows rows = make_rows(boxes, std::stoi(stencil)),
               small_rows = make_rows(small, std::stoi(stencil));
    for (const auto& pc : split(pcs))
      for (const auto& configuration : split(configurations)) {
        const auto slash = configuration.find('/');
        const std::string type = configuration.substr(0, slash),
                          solver = configuration.substr(slash + 1);
        Solve results[2];
        PetscCall(measure(small, small_rows, pc.c_str(), type, solver,
                          applications, tolerance, results));
        results[0] = results[1] = Solve();
        PetscCall(measure(boxes, rows, pc.c_str(), type, solver, applications,
                          tolerance, results));
        for (int k = 0; k < 2; ++k) {
          const Solve& r = results[k];
          if (solver == MATSOLVERSTRATA && !r.right) right = false;
          PetscCall(PetscPrintf(
              PETSC_COMM_WORLD,
              "%d,%" PetscInt_FMT
              "%s,%s,%s,%s,%s,%.4f,%.4f,%.4f,%.4f,%" PetscInt_FMT
              ",%.2e,%s,%.4f,%.4f,%.4f,%.4f\n",
              boxes.ranks, n, whole ? "/ranks" : "", stencil.c_str(),
              pc.c_str(), configuration.c_str(),
              k == 0 ? "first" : "new_values", r.setup, r.apply, r.solve,
              r.setup + r.solve, r.iterations, (double)r.residual,
              r.right ? "right" : "WRONG", r.multiply, r.dot, r.axpy, r.halo));
        }
      }
  }
  PetscCall(PetscFinalize());
  return right ? 0 : 1;
}
