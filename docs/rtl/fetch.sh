#!/usr/bin/env bash
# RTL of dot products by other people, for `tcformal check-rtl`: fetched at fixed commits, never copied in here.
set -euo pipefail
to="${1:?expected a folder to fetch into}"

# repository, commit, and where it goes
fetch() {
    mkdir -p "$to/$3"
    git -C "$to/$3" init --quiet
    git -C "$to/$3" fetch --quiet --depth 1 "https://github.com/$1" "$2"
    git -C "$to/$3" checkout --quiet FETCH_HEAD
    echo "$1 at $2: $to/$3"
}

fetch nvdla/hw 8e06b1b9d85aab65b40d43d08eec5ea4681ff715 nvdla
fetch openhwgroup/cvfpu 0fdd399db9c4014145c6104b658b6c9c7563855e cvfpu  # feature/expanding_dotp
fetch pulp-platform/common_cells 88a08fd4e365ec258375a326c30c20726eaa4fa2 common_cells  # v1.24.1
fetch LazyLatte/vortex-raytracing f7dce0c72867c82900c85fefcfae2c34cac92040 vortex  # a fork of vortexgpgpu/vortex
