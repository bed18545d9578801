#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/compute_type.h"

namespace tutti {

/// What `--compute-type NAME` means for a model on a device: `auto` is automatic_type(), which may try all types first;
/// any other the type of that name, or the nearest that the device has. A line in the log names it, where it is not the
/// requested one. `build`: of this program; another one may decide otherwise.
Result<ComputeType> compute_type_for(const std::string& name, const std::filesystem::path& model, at::Device device,
                                     std::string_view build);

}  // namespace tutti
