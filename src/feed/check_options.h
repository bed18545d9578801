#pragma once

#include <cstdint>

#include "base/error.h"
#include "feed/options.h"

namespace tutti {

/// An error that names the option, what was expected and what was found.
Result<void> check(const FeedOptions& options);

/// A digest of the set and of every option that decides what batches hold: a position fits where it is the same.
std::uint64_t fingerprint_of(const FeedOptions& options, std::uint64_t set);

}  // namespace tutti
