// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Where the pieces of CUDA may be: toolkits ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /opt/cuda), the distribution's
/// library folders, and pip's wheels below site-packages folders (nvidia/*, triton). Nothing is opened or run.
struct CudaPlaces {
    /// libnvrtc.so…, best first. Where $HEDDLE_NVRTC is set, that one alone, whether it exists or not.
    std::vector<std::filesystem::path> nvrtc;
    /// nvdisasm, best first; also from $PATH. Where $HEDDLE_NVDISASM is set, that one alone.
    std::vector<std::filesystem::path> nvdisasm;
    /// libcupti.so…, best first. Where $HEDDLE_CUPTI is set, that one alone.
    std::vector<std::filesystem::path> cupti;
};

CudaPlaces findCudaPlaces(const std::vector<std::filesystem::path> &sitePackages);

/// The site-packages and dist-packages folders of an interpreter, of its virtual environment's base, and of the person.
std::vector<std::filesystem::path> sitePackagesOf(const std::filesystem::path &python);

/// Include folders for device code that belong to an NVRTC library: those that hold cuda_fp16.h, and their cccl (cub,
/// cuda/std). Empty where no headers came along; heddle.cuh needs none.
std::vector<std::filesystem::path> cudaIncludeFolders(const std::filesystem::path &nvrtcLibrary);

/// The files in the folder of `file` whose names begin with `start`, and where their links lead.
std::vector<std::filesystem::path> filesBeside(const std::filesystem::path &file, std::string_view start);

/// Tells a file from another one of the same path after an update: real path, size and time of change.
std::string fileIdentity(const std::filesystem::path &file);

} // namespace heddle
