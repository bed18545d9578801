#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "feed/source/line_index.h"

namespace tutti {

/// The lines "KEY VALUE" of one of Kaldi's files, in their order and by key. Such files are sorted by key, so that they
/// are searched as they are; of one that is not, an order is kept, of four bytes a line. Immutable; thread-safe.
class KeyedLines {
 public:
  /// Fault::missing, or Fault::corrupt where a key comes twice.
  static Result<KeyedLines> open(const std::filesystem::path& path);

  std::int64_t size() const { return lines_.size(); }
  std::string_view key(std::int64_t index) const;
  /// The line behind its key, without blanks around it.
  std::string_view value(std::int64_t index) const;
  /// The value of a key; none: no line has it.
  std::optional<std::string_view> find(std::string_view key) const;
  /// Which line of the file that is, from 1.
  std::int64_t number(std::int64_t index) const { return lines_.number(index); }
  std::uint64_t fingerprint() const { return lines_.fingerprint(); }

 private:
  explicit KeyedLines(LineIndex lines) : lines_(std::move(lines)) {}
  /// The line at `rank` of the keys' order.
  std::int64_t at_rank(std::int64_t rank) const {
    return order_.empty() ? rank : order_[static_cast<std::size_t>(rank)];
  }

  LineIndex lines_;
  std::vector<std::int32_t> order_{};  // empty: the file is sorted
};

}  // namespace tutti
