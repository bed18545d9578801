#include "jobs/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

#include "base/try.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

/// <job>.<attempt>.<token>.<n>, as stage_outputs names them.
std::optional<LeaseKey> key_in(const std::string& name) {
  long long job = 0;
  int attempt = 0, number = 0, used = 0;
  char token[33] = {};
  if (std::sscanf(name.c_str(), "%18lld.%9d.%32[0-9a-f].%9d%n", &job, &attempt, token, &number, &used) != 4 ||
      used != static_cast<int>(name.size()))
    return {};
  return LeaseKey{job, token};
}

constexpr std::chrono::hours kOld{24};

bool older_than_a_day(const fs::path& path) {
  std::error_code why;
  const auto written = fs::last_write_time(path, why);
  return !why && fs::file_time_type::clock::now() - written > kOld;
}

bool has_lost(OutputRecords::StagedBy by, bool is_old) {
  return by == OutputRecords::StagedBy::over || (by == OutputRecords::StagedBy::other && is_old);
}

Result<std::size_t> collect_lost_objects(OutputRecords& records, const fs::path& folder) {
  std::size_t collected = 0;
  auto* objects = TRY(expect_objects(records.objects(), folder));
  const auto listed = TRY(objects->list(folder));
  for (const auto& object : listed) {
    const auto key = key_in(fs::path(object.path).filename().string());
    if (!key) continue;
    const auto by = TRY(records.staged_by(*key));
    if (!has_lost(by, std::chrono::system_clock::now() - object.modified > kOld)) continue;
    if (objects->remove(object.path)) ++collected;
  }
  return collected;
}

Result<std::size_t> collect_losers(OutputRecords& records, const fs::path& folder) {
  if (is_object(folder)) return collect_lost_objects(records, folder);
  std::size_t collected = 0;
  std::error_code why;
  for (fs::directory_iterator entry(folder, why), end; !why && entry != end; entry.increment(why)) {
    const auto key = key_in(entry->path().filename().string());
    if (!key) continue;  // nothing of ours
    const auto by = TRY(records.staged_by(*key));
    if (has_lost(by, older_than_a_day(entry->path())) && ::unlink(entry->path().c_str()) == 0) ++collected;
  }
  return collected;
}

}  // namespace

Result<SweepReport> sweep_outputs(JobStore& store, std::span<const fs::path> staging_folders, Existing existing) {
  SweepReport report;
  TRY(store.reap());  // first: what dead processes staged belongs to no attempt then
  const auto unpublished = TRY(store.unpublished());
  for (const auto& job : unpublished) {
    const auto placed = put_outputs_in_place(store, job.job, job.outputs, existing);
    if (placed) {
      ++report.put_in_place;
      std::ranges::copy(*placed, std::back_inserter(report.kept));
    } else if (placed.error().fault != Fault::missing) {
      report.stuck.push_back({job.job, placed.error()});  // one folder's failure is not that of other batches
    } else {
      const auto again = TRY(store.redo({.ids = {job.job}}, JobAdmin::Redo::all));
      report.requeued += again;
    }
  }
  for (const auto& folder : staging_folders) {
    const auto collected = TRY(collect_losers(store, folder));
    report.collected += collected;
  }
  return report;
}

}  // namespace tutti
