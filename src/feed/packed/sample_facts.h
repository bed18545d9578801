#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "feed/batch.h"

namespace tutti {

/// Why a sample could not be used.
struct BadFacts {
  std::string id{};
  std::string reason{};
};

/// What is known of a sample, as bytes; reading them gives the same sample but for its frames, which are stored apart.
std::string write_facts(const BatchSample& sample);
std::string write_facts(const BadFacts& bad);

/// None for bytes that are not facts.
std::optional<BatchSample> read_facts(std::string_view bytes);
std::optional<BadFacts> read_bad_facts(std::string_view bytes);

}  // namespace tutti
