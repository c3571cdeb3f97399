# SPDX-License-Identifier: Apache-2.0
# For scenarios that start several processes: . "$ROOT/test/mpi.sh". Open MPI refuses root and more processes than cores unless told,
# and needs neither a network nor another machine. Without it, or in a build without it, the scenario is skipped.
command -v mpirun >/dev/null || { echo "mpirun is not installed"; exit 77; }
grep -qa MPI_Alltoall "$DAWN" || { echo "this build has no MPI"; exit 77; } # the plug-in is in the program

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # Open MPI 5
export OMPI_MCA_btl=self,vader OMPI_MCA_plm=isolated OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_memory=^patcher
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # MPI keeps what it took until the end
