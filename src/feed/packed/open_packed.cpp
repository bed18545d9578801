#include "feed/packed/open_packed.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "base/file_lock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/system_error.h"
#include "feed/packed/pack_key.h"
#include "feed/packed/pack_set.h"
#include "feed/packed/pack_writer.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

const char* name_of(Residence where) {
  return where == Residence::device ? "device" : where == Residence::memory ? "memory" : "mapped";
}

Result<void> check_space(const FeedOptions& options, Bytes needed) {
  const ResidentOptions& resident = options.resident;
  if (resident.where == Residence::mapped || resident.space.value == 0 || needed <= resident.space) return {};
  const std::string where = name_of(resident.where);
  return fail(Fault::exhausted,
              "data-set " + where + ": the packed set takes " + bytes_text(needed) + ", there is space for " +
                  bytes_text(resident.space),
              "Take data-set mapped, of which memory holds as much as fits, or fewer samples (max-samples)");
}

/// Before anything is decoded: what memory, and the cache as large as it may be, cannot hold.
Result<void> check_plan(const FeedOptions& options, const PackPlan& plan) {
  if (plan.size > options.cache.most)
    return fail(Fault::usage,
                std::string("data-set ") + name_of(options.resident.where) + ": the packed set takes " +
                    bytes_text(plan.size) + ", the cache may take " + bytes_text(options.cache.most),
                "Raise cache-gigabytes, or take data-set stream");
  return check_space(options, plan.size);
}

/// One process packs at a time: the others wait for it, and find what it made.
Result<OwnedFd> lock_folder(const fs::path& folder) {
  const fs::path path = folder / "packing.lock";
  OwnedFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock) return fail_errno(path.string(), "cannot be opened");
  constexpr const char* kElsewhere = "Name a folder on a disk of this machine with --cache";
  const auto locked = try_lock_file(lock.get(), path.string(), kElsewhere);
  if (!locked) return tl::unexpected(locked.error());
  if (*locked) return lock;
  log(Level::info, "another process packs a set in " + folder.string() + "; waiting for it");
  if (auto waited = lock_file(lock.get(), path.string(), kElsewhere); !waited) return tl::unexpected(waited.error());
  return lock;
}

/// Packs of other sets go, those first that were used least lately, until all of them keep to the cache's bound. Who
/// has one of them mapped keeps it.
void evict(const fs::path& kept, Bytes most) {
  struct Old {
    fs::file_time_type used{};
    fs::path path{};
    std::int64_t size = 0;
  };
  std::error_code ignored;
  std::vector<Old> others;
  auto all = static_cast<std::int64_t>(fs::file_size(kept, ignored));
  for (const auto& entry : fs::directory_iterator(kept.parent_path(), ignored)) {
    if (entry.path().extension() != kPackEnding || entry.path() == kept) continue;
    others.push_back(
        {entry.last_write_time(ignored), entry.path(), static_cast<std::int64_t>(entry.file_size(ignored))});
    all += others.back().size;
  }
  std::sort(others.begin(), others.end(), [](const Old& a, const Old& b) { return a.used < b.used; });
  for (const Old& old : others) {
    if (all <= most.value) return;
    fs::remove(old.path, ignored);
    all -= old.size;
  }
}

/// The set as it is there; null where it is not, or is damaged. Errors: it cannot be looked at (memory, permissions).
Result<std::shared_ptr<PackedSet>> find(const FeedOptions& options, const CacheKey& key, const fs::path& path,
                                        bool reports_damage) {
  auto found = PackedSet::open(path, key, options.threads.features);
  if (found) {
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // it was used
    return found;
  }
  const Fault fault = found.error().fault;
  if (fault != Fault::missing && fault != Fault::corrupt) return found;
  if (reports_damage && fault == Fault::corrupt)
    log(Level::warning, "the packed set cannot be used and is packed again: " + found.error().text());
  return nullptr;
}

std::shared_ptr<PackedSet> not_packed(const Error& error) {
  log(Level::warning, "the set is not packed, each sample is read when its turn comes: " + error.text());
  return nullptr;
}

/// With the folder locked.
Result<std::shared_ptr<PackedSet>> pack(const FeedOptions& options, const Dataset& set, const CacheKey& key,
                                        const fs::path& path) {
  remove_other_half_packs(path);
  auto found = find(options, key, path, /*reports_damage=*/true);
  if (!found) return not_packed(found.error());
  if (*found) return found;  // another process has mended it meanwhile
  const auto plan = plan_pack(options, set);
  if (!plan) return not_packed(plan.error());
  if (auto checked = check_plan(options, *plan); !checked) return tl::unexpected(checked.error());
  const Bytes missing{plan->size.value - half_packed(path).value};
  if (auto fits = expect_space(path.parent_path(), missing, "what is still to be packed",
                               "Free some space, or name another folder with --cache");
      !fits)
    return not_packed(fits.error());
  const auto begin = options.clock->now();
  if (auto written = write_pack(options, set, *plan, key, path); !written) return not_packed(written.error());
  evict(path, options.cache.most);
  auto made = PackedSet::open(path, key, options.threads.features);
  if (!made) return not_packed(made.error());
  const Seconds took = options.clock->now() - begin;
  log(Level::info, "packed " + std::to_string((*made)->entries()) + " samples into " + path.string() + ": " +
                       bytes_text((*made)->size()) + ", " + fixed_text(took.count(), 1) + " s");
  return made;
}

/// Packs the set, or waits for the process that does. `was_there`: what lay there when we looked cannot be used.
Result<std::shared_ptr<PackedSet>> pack_once(const FeedOptions& options, const Dataset& set, const CacheKey& key,
                                             const fs::path& path, bool was_there) {
  const fs::path folder = path.parent_path();
  auto lock = lock_folder(folder);
  std::error_code ignored;
  if (lock && !was_there && fs::exists(path, ignored)) {
    // Packed meanwhile. All that waited for it read it at once, not one behind the other.
    *lock = OwnedFd();
    auto found = find(options, key, path, /*reports_damage=*/false);
    if (!found) return not_packed(found.error());
    if (*found) return found;
    lock = lock_folder(folder);
  }
  if (!lock) return not_packed(lock.error());
  return pack(options, set, key, path);
}

}  // namespace

Result<std::shared_ptr<const PackedSet>> open_packed(const FeedOptions& options, const Dataset& set) {
  const auto key = pack_key(options, set);
  if (!key) return tl::unexpected(key.error());
  std::error_code ignored;  // what cannot be made cannot be locked either, which is reported
  fs::create_directories(options.cache.folder, ignored);
  const fs::path path = options.cache.folder / (hex_of(*key) + kPackEnding);
  auto opened = Result<std::shared_ptr<PackedSet>>(nullptr);
  const bool is_there = fs::exists(path, ignored);
  if (is_there) opened = find(options, *key, path, /*reports_damage=*/false);
  if (!opened)
    opened = not_packed(opened.error());
  else if (!*opened)
    opened = pack_once(options, set, *key, path, is_there);
  if (!opened) return tl::unexpected(opened.error());
  if (!*opened) return nullptr;
  const auto where = options.resident.where;
  const Bytes needed = where == Residence::device ? (*opened)->features() : (*opened)->size();
  if (auto checked = check_space(options, needed); !checked) return tl::unexpected(checked.error());
  if (where == Residence::memory)
    if (auto moved = (*opened)->move_to_memory(options.threads.features); !moved) return tl::unexpected(moved.error());
  return std::shared_ptr<const PackedSet>(std::move(*opened));
}

}  // namespace tutti
