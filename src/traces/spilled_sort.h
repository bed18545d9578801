#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/owned.h"
#include "base/try.h"

namespace tutti {

/// Sorts any number of records in bounded memory: what does not fit is in a temporary file without a name. Records are
/// plain data with an operator<; equal ones come in any order. One thread.
template <class Record>
class SpilledSort {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  /// `memory`: of the records that are not in the file.
  explicit SpilledSort(Bytes memory) : limit_(static_cast<std::size_t>(memory.value) / sizeof(Record)) {}

  /// Errors are those of the temporary file: a full disk.
  Result<void> push(const Record& record) {
    records_.push_back(record);
    ++count_;
    return records_.size() < limit_ ? Result<void>() : spill();
  }

  /// Call it behind the last `push`, before the first Reader.
  void sort() { std::sort(records_.begin(), records_.end()); }

  std::size_t size() const { return count_; }

  /// Reads the records of `sorted` in their order, as often as one is made. It must not outlive that.
  class Reader {
   public:
    explicit Reader(const SpilledSort& sorted) : sorted_(sorted) {
      for (const Run& run : sorted.runs_) sources_.push_back({.next = run.at, .end = run.at + run.size});
      sources_.push_back({.rest = sorted.records_});
      for (std::size_t i = 0; i < sources_.size(); ++i) queue(i);
    }

    /// None behind the last record, and after a failure.
    std::optional<Record> next() {
      if (heads_.empty() || error_) return {};
      std::ranges::pop_heap(heads_, later);
      const auto [record, source] = heads_.back();
      heads_.pop_back();
      queue(source);
      return record;
    }

    /// Why the records ended before their end.
    const std::optional<Error>& error() const { return error_; }

   private:
    struct Source {
      std::int64_t next = 0, end = 0;  // in the file, not read yet
      std::vector<Record> block{};
      std::span<const Record> rest{};
    };
    using Head = std::pair<Record, std::size_t>;

    static bool later(const Head& a, const Head& b) {
      if (b.first < a.first) return true;
      return !(a.first < b.first) && b.second < a.second;
    }

    void queue(std::size_t index) {
      Source& source = sources_[index];
      if (source.rest.empty() && source.next < source.end) refill(source);
      if (source.rest.empty()) return;
      heads_.emplace_back(source.rest.front(), index);
      source.rest = source.rest.subspan(1);
      std::ranges::push_heap(heads_, later);
    }

    void refill(Source& source) {
      const auto left = static_cast<std::size_t>(source.end - source.next) / sizeof(Record);
      source.block.resize(std::min(left, kBlock));
      const auto bytes = std::as_writable_bytes(std::span(source.block));
      const auto read = read_at(sorted_.file_.get(), bytes, source.next, "temporary file");
      if (!read || *read != bytes.size()) {
        error_ = read ? Error{Fault::corrupt, "temporary file: shorter than what was written"} : read.error();
        return;
      }
      source.next += static_cast<std::int64_t>(bytes.size());
      source.rest = source.block;
    }

    const SpilledSort& sorted_;
    std::vector<Source> sources_{};
    std::vector<Head> heads_{};  // a heap, the least first
    std::optional<Error> error_{};
  };

 private:
  static constexpr std::size_t kBlock = 65536 / sizeof(Record);
  struct Run {
    std::int64_t at = 0, size = 0;  // bytes
  };

  Result<void> spill() {
    sort();
    if (!file_) {
      file_ = TRY(open_unnamed_file());
    }
    const auto bytes = std::as_bytes(std::span<const Record>(records_));
    const Run run{written_, static_cast<std::int64_t>(bytes.size())};
    if (auto written = write_at(file_.get(), bytes, written_, "temporary file"); !written) return written;
    runs_.push_back(run);
    written_ += run.size;
    records_.clear();
    return {};
  }

  std::size_t limit_;
  std::size_t count_ = 0;
  std::vector<Record> records_{};
  std::vector<Run> runs_{};
  OwnedFd file_{};
  std::int64_t written_ = 0;
};

}  // namespace tutti
