#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "flow/pipeline.h"

namespace tutti {

/// The folder of a corpus that is made by rules: parts in folders of its own, and a list that makes it whole.
struct CorpusFolder {
  std::filesystem::path out{};           ///< made when missing
  std::span<const char* const> parts{};  ///< folders below `out` that the corpus writes into
  std::string list{};                    ///< the file that `write` writes last: with it the corpus is whole
};

/// Makes the folders and calls `write`, while no other process writes a corpus there: a lock file in `out`, which goes
/// once the corpus is whole. What a killed process had begun is written again.
///
/// Fault::usage for a folder that holds a corpus or other files already; Fault::refused where another process is
/// writing one into it; else what `write` returns.
Result<void> write_corpus(const CorpusFolder& folder, const std::function<Result<void>()>& write);

/// Calls `make` with 0 to `count` - 1 on `threads` threads, and `add` with each result, in order, on one thread. Ends
/// with the first error of either.
template <class Item>
Result<void> make_in_order(std::int64_t count, int threads, std::function<Result<Item>(std::int64_t)> make,
                           std::function<void(const Item&)> add) {
  Pipeline pipeline;
  std::int64_t next = 0;
  auto numbers = pipeline.source("number", [&]() -> std::optional<Result<std::int64_t>> {
    if (next == count) return std::nullopt;
    return next++;
  });
  auto items = pipeline.map("make", std::move(numbers), std::move(make), {.threads = threads, .order = Order::input});
  pipeline.sink("list", std::move(items), [&](const Item& item) -> Result<void> {
    add(item);
    return {};
  });
  return pipeline.run();
}

}  // namespace tutti
