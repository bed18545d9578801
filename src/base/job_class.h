#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tutti {

/// Who waits for a job, the most urgent first. The store keeps the numbers: none may change.
enum class JobClass { interactive, normal, batch };

inline constexpr std::array<std::string_view, 3> kJobClassNames{"interactive", "normal", "batch"};

constexpr std::string_view name_of(JobClass job_class) {
  return kJobClassNames.at(static_cast<std::size_t>(job_class));
}

constexpr std::optional<JobClass> job_class_named(std::string_view name) {
  for (std::size_t i = 0; i < kJobClassNames.size(); ++i)
    if (kJobClassNames[i] == name) return static_cast<JobClass>(i);
  return {};
}

}  // namespace tutti
