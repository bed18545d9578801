#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "device/nvml/library.h"

namespace tutti {

/// Queries one GPU. Every answer is optional; in sum they show whether the GPU is still there: one answer that it is
/// lost ends the queries, and a GPU that answers nothing at all is lost as well. One thread.
class NvmlQuery {
 public:
  NvmlQuery(const NvmlLibrary& library, nvml::Device device) : library_(library), device_(device) {}

  /// The value that `function(device, before..., &value)` gives; absent where the driver lacks the function, refuses,
  /// or answers with a blank.
  template <class... Parameters, class... Before>
  auto value(nvml::Code (*function)(nvml::Device, Parameters...), Before... before) {
    using Last = std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>;
    using Value = std::remove_pointer_t<Last>;
    Value value{};
    if (!call(function, before..., &value)) return std::optional<Value>();
    if constexpr (std::is_same_v<Value, unsigned> || std::is_same_v<Value, unsigned long long>)
      if (nvml::is_blank(value)) return std::optional<Value>();
    return std::optional<Value>(value);
  }

  /// Whether `function(device, arguments...)` succeeded.
  template <class... Parameters, class... Arguments>
  bool call(nvml::Code (*function)(nvml::Device, Parameters...), Arguments... arguments) {
    if (!function || is_gone()) return false;
    return note(function(device_, arguments...));
  }

  /// A text that `function` writes.
  std::optional<std::string> text(nvml::Code (*function)(nvml::Device, char*, unsigned)) {
    char buffer[96] = {};  // NVML's longest
    if (!call(function, buffer, static_cast<unsigned>(sizeof buffer - 1))) return std::nullopt;
    return std::string(buffer);
  }

  const NvmlLibrary& library() const { return library_; }
  nvml::Device device() const { return device_; }
  /// The code of the last call that was made.
  nvml::Code last() const { return last_; }
  /// Why the GPU counts as lost, by all answers so far.
  std::optional<std::string> loss() const {
    if (is_gone() || (answers_ == 0 && failures_ > 1)) return library_.reason(last_failure_);
    return std::nullopt;
  }

 private:
  bool is_gone() const {
    return last_failure_ == nvml::kGpuIsLost || last_failure_ == nvml::kResetRequired ||
           last_failure_ == nvml::kGpuNotFound;
  }
  bool note(nvml::Code code) {
    last_ = code;
    if (code == nvml::kSuccess || code == nvml::kInsufficientSize) {
      ++answers_;
      return code == nvml::kSuccess;
    }
    if (code == nvml::kNotSupported || code == nvml::kNotFound || code == nvml::kNoPermission) return false;
    ++failures_;
    last_failure_ = code;
    return false;
  }

  const NvmlLibrary& library_;
  nvml::Device device_;
  nvml::Code last_ = nvml::kSuccess, last_failure_ = nvml::kSuccess;
  int answers_ = 0, failures_ = 0;
};

}  // namespace tutti
