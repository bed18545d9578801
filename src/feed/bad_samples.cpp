#include "feed/bad_samples.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/try.h"
#include "text/json_bytes.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// Ids of the lines of an earlier run.
std::set<std::string> ids_in(const std::string& text) {
  std::set<std::string> ids;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const Json line = parse_json_keeping_bytes<Json>(std::string_view(text).substr(at, end - at));
    if (line.is_object() && line.contains("id") && line["id"].is_string()) ids.insert(line["id"].get<std::string>());
    at = end + 1;
  }
  return ids;
}

}  // namespace

Result<std::unique_ptr<BadSamples>> BadSamples::open(const std::filesystem::path& file, BadSampleLimits limits,
                                                     std::int64_t samples) {
  if (file.empty()) return std::unique_ptr<BadSamples>(new BadSamples({}, {}, limits, samples));
  std::error_code ignored;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
  OwnedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) return fail_errno(file.string(), "cannot be written");
  auto old = TRY(read_file(file));
  // A torn last line counts for nothing, and what is added must not be glued to it.
  const std::size_t torn = old.rfind('\n') + 1;  // from the start where there is no whole one: npos + 1 is 0
  if (torn < old.size() && ::ftruncate(fd.get(), static_cast<off_t>(torn)) != 0)
    return fail_errno(file.string(), "cannot be written");
  old.resize(torn);
  std::unique_ptr<BadSamples> made(new BadSamples(std::move(fd), file.string(), limits, samples));
  made->state_.with([&](State& state) { state.known = ids_in(old); });
  return made;
}

std::unique_ptr<BadSamples> BadSamples::counting(BadSampleLimits limits) {
  return std::unique_ptr<BadSamples>(new BadSamples({}, {}, limits, std::numeric_limits<std::int64_t>::max()));
}

void BadSamples::note_seen(std::int64_t samples) {
  state_.with([&](State& state) { state.seen = std::min(state.seen + samples, samples_); });
}

std::int64_t BadSamples::count() const {
  return state_.with([](const State& state) { return static_cast<std::int64_t>(state.met.size()); });
}

std::string BadSamples::last() const {
  return state_.with([](const State& state) { return state.last; });
}

Error BadSamples::nothing_usable() const {
  const std::string why = last();
  return {Fault::corrupt,
          "an epoch gave no batch: not one of its samples can be used, " + std::to_string(count()) + " are bad" +
              (why.empty() ? std::string() : ". The last one, " + why),
          name_.empty() ? "Look at the set" : "Look at " + name_};
}

Result<void> BadSamples::add(const std::string& id, const std::string& reason) {
  bool is_unwritten = false;
  std::int64_t bad = 0, seen = 0;
  state_.with([&](State& state) {
    if (state.met.insert(id).second) is_unwritten = state.known.insert(id).second;
    state.last = id + ": " + reason;
    bad = static_cast<std::int64_t>(state.met.size());
    seen = state.seen;
  });
  if (is_unwritten && file_) {
    const std::string line = json_keeping_bytes(Json{{"id", id}, {"reason", reason}}) + "\n";
    if (auto written = write_all(file_.get(), std::as_bytes(std::span(line)), name_); !written) return written;
  }
  return check_limit(bad, seen, id, reason);
}

Result<void> BadSamples::check_limit(std::int64_t bad, std::int64_t seen, const std::string& id,
                                     const std::string& reason) const {
  const auto share = static_cast<double>(bad) / static_cast<double>(std::max<std::int64_t>(seen, 1));
  if (bad <= limits_.count && (seen < limits_.after || share <= limits_.share)) return {};
  char text[160];
  std::snprintf(text, sizeof text, "%lld of %lld samples are bad; at most %lld, or %.3g %%, may be",
                static_cast<long long>(bad), static_cast<long long>(seen), static_cast<long long>(limits_.count),
                100 * limits_.share);
  return fail(Fault::corrupt, std::string(text) + ". The last one, " + id + ": " + reason,
              name_.empty() ? "Look at the set, or raise the limit" : "Look at " + name_ + ", or raise the limit");
}

}  // namespace tutti
