#!/usr/bin/env bash
# Runs every harness in all its orders with seqz, in pieces: an array of Slurm jobs, one for each piece. From the directory of
# the project:
#
#   job=$(sbatch --parsable seqz.sbatch)
#   sbatch --dependency=afterany:$job --output=seqz-pieces/report.txt --wrap 'seqz merge seqz-pieces/*.json'
#
# The second line puts together what the pieces have found, when all have ended: a bug, or what is proved. While a piece is
# missing, nothing is promised. A piece that was killed is searched again by `sbatch --array=3 seqz.sbatch`, where SEQZ_PIECES
# says how many pieces there are in all.
#SBATCH --job-name=seqz
#SBATCH --array=1-16
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=2G
#SBATCH --time=01:10:00
set -euo pipefail

piece=${SLURM_ARRAY_TASK_ID:?this is the script of an array of jobs: sbatch seqz.sbatch}
pieces=${SEQZ_PIECES:-${SLURM_ARRAY_TASK_COUNT:-16}}
mkdir -p seqz-pieces

# Each job builds for itself, unless they share a directory that several machines can lock.
if [ -n "${SLURM_TMPDIR:-}" ]; then
    export SEQZ_TARGET_DIR="$SLURM_TMPDIR/seqz"
fi

# With 1 it says that there is a bug, which the merged report tells, too.
seqz explore --workspace --time 3600 --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --partition "$piece/$pieces" --output "seqz-pieces/$piece.json" || [ $? -eq 1 ]
