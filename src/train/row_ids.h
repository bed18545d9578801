#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// The ids of a batch's rows. To put thousands of ids together takes longer than to gather their rows: so a task may
/// leave it until they are read, which most never are. Copies share nothing that changes; one thread each.
class RowIds {
 public:
  /// Appends the ids of some rows, as many as were promised.
  using Append = std::function<void(std::vector<std::string>& ids)>;

  RowIds() = default;
  RowIds(std::vector<std::string> ids) {
    const auto count = std::ssize(ids);
    *this = RowIds(count, [own = std::move(ids)](auto& all) { all.insert(all.end(), own.begin(), own.end()); });
  }
  /// Whatever `append` needs outlives this.
  RowIds(std::int64_t count, Append append) : count_(count), parts_{std::move(append)} {}

  void add(const RowIds& more) {
    count_ += more.count_;
    parts_.insert(parts_.end(), more.parts_.begin(), more.parts_.end());
  }
  std::int64_t size() const { return count_; }
  /// In the order of the rows.
  std::vector<std::string> all() const {
    std::vector<std::string> ids;
    ids.reserve(static_cast<std::size_t>(count_));
    for (const auto& append : parts_) append(ids);
    return ids;
  }

 private:
  std::int64_t count_ = 0;
  std::vector<Append> parts_{};
};

}  // namespace tutti
