#include "transcribe/bucket_outputs.h"

#include <cstdint>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/random/kernel_random.h"
#include "base/sha256.h"
#include "base/try.h"
#include "cloud/queue_url.h"
#include "text/manifest/date_time.h"

namespace tutti {
namespace {

constexpr Seconds kListedFor{60}, kAgainAfter{5}, kLogWaitEvery{60};

/// The same for equal texts, and hardly ever for others; never 0.
std::int64_t version_of(const std::string& etag) {
  constexpr std::size_t kDigits = 15;  // what a positive number of 64 bits holds
  if (etag.empty()) return 0;
  return static_cast<std::int64_t>(std::stoull(sha256_of(etag).substr(0, kDigits), nullptr, 16)) | 1;
}

ObjectOutputs::Facts object_facts(const S3Object& object) {
  return {object.size, version_of(object.etag)};
}

std::string type_of(const std::string& path) {
  if (path.ends_with(".json")) return "application/json";
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".vtt")) return "text/vtt; charset=utf-8";
  return "text/plain; charset=utf-8";
}

/// "s3://bucket/out" of "s3://bucket/out/monday.txt"; empty of a bucket.
std::string folder_above(const std::string& path) {
  constexpr std::size_t kScheme = 5;
  const auto slash = path.rfind('/');
  return slash == std::string::npos || slash < kScheme ? std::string() : path.substr(0, slash);
}

/// The beginning of the keys below a folder.
Result<S3Path> prefix_of(const std::string& folder) {
  auto path = TRY(parse_s3_path(folder + "/x"));
  path.key.pop_back();
  return path;
}

}  // namespace

Result<std::string> object_folder(const std::string& text) {
  if (!is_s3_path(text))
    return fail(Fault::usage, "expected a folder or s3://BUCKET/FOLDER, found the address " + text);
  std::string folder = "s3://" + text.substr(5);
  while (folder.ends_with('/')) folder.pop_back();
  TRY(prefix_of(folder));
  return folder;
}

template <class Request>
auto BucketOutputs::with_s3(Request request) -> decltype(request(std::declval<S3Client&>())) {
  auto* pool = TRY(callers_.pool());
  return pool->with_s3(request);
}

Result<std::optional<ObjectOutputs::Facts>> BucketOutputs::look(const std::string& path) {
  const auto parsed = TRY(parse_s3_path(path));
  const auto object = TRY(with_s3([&](S3Client& s3) { return s3.head(parsed); }));
  return object ? std::optional(object_facts(*object)) : std::nullopt;
}

Result<std::optional<ObjectOutputs::Facts>> BucketOutputs::look_at_list(const std::string& path) {
  const auto now = Clock::real().now();
  const auto known = listings_.with([&](const Listings& all) -> std::optional<std::optional<Facts>> {
    for (std::string folder = folder_above(path); !folder.empty(); folder = folder_above(folder)) {
      const auto listing = all.find(folder);
      if (listing == all.end() || now - listing->second.at > kListedFor) continue;
      const auto found = listing->second.objects.find(path);
      return found == listing->second.objects.end() ? std::nullopt : std::optional(found->second);
    }
    return {};
  });
  if (known) return *known;
  const auto prefix = TRY(prefix_of(folder_above(path)));
  const auto objects = TRY(with_s3([&](S3Client& s3) { return s3.list(prefix.bucket, prefix.key); }));
  Listing listing{.at = now};
  for (const S3Object& object : objects)
    listing.objects.emplace(S3Path{prefix.bucket, object.key}.text(), object_facts(object));
  return listings_.with([&](Listings& all) -> std::optional<Facts> {
    const auto& kept = all[folder_above(path)] = std::move(listing);
    const auto found = kept.objects.find(path);
    return found == kept.objects.end() ? std::nullopt : std::optional(found->second);
  });
}

/// What this process changes shows in its lists at once.
void BucketOutputs::note(const std::string& path, const std::optional<Facts>& facts) {
  listings_.with([&](Listings& all) {
    for (std::string folder = folder_above(path); !folder.empty(); folder = folder_above(folder)) {
      const auto listing = all.find(folder);
      if (listing == all.end()) continue;
      if (facts)
        listing->second.objects[path] = *facts;
      else
        listing->second.objects.erase(path);
    }
  });
}

/// By a file without a name: a transcript may be larger than an answer that is kept in memory.
Result<std::string> BucketOutputs::read(const std::string& path) {
  const auto parsed = TRY(parse_s3_path(path));
  const auto file = TRY(open_unnamed_file());
  const auto object = TRY(with_s3([&](S3Client& s3) { return s3.fetch(parsed, file.get()); }));
  std::string content(static_cast<std::size_t>(object.size), '\0');
  const auto got = TRY(read_at(file.get(), std::as_writable_bytes(std::span(content)), 0, path));
  content.resize(got);
  return content;
}

Result<std::optional<ObjectOutputs::Facts>> BucketOutputs::write(const std::string& path, std::string_view content,
                                                                 bool replace) {
  const auto parsed = TRY(parse_s3_path(path));
  Facts facts{.bytes = static_cast<std::int64_t>(content.size())};
  auto put = with_s3([&](S3Client& s3) {
    auto end = s3.put(parsed, std::string(content), type_of(path), replace ? PutMode::replace : PutMode::only_new);
    facts.version = version_of(s3.put_etag());
    return end;
  });
  // What is not there is the bucket, which may come back; a missing output would be done again.
  if (!put && put.error().fault == Fault::missing) put.error().fault = Fault::unavailable;
  const auto end = TRY(std::move(put));
  if (end == PutEnd::was_there) return std::nullopt;
  note(path, facts);
  return facts;
}

Result<void> BucketOutputs::remove(const std::string& path) {
  const auto parsed = TRY(parse_s3_path(path));
  TRY(with_s3([&](S3Client& s3) { return s3.remove(parsed); }));
  note(path, std::nullopt);
  return {};
}

Result<std::vector<ObjectOutputs::Listed>> BucketOutputs::list(const std::string& folder) {
  const auto prefix = TRY(prefix_of(folder));
  const auto objects = TRY(with_s3([&](S3Client& s3) { return s3.list(prefix.bucket, prefix.key); }));
  std::vector<Listed> listed;
  for (const S3Object& object : objects) {
    const auto modified = parse_date_time(object.modified);
    listed.push_back({S3Path{prefix.bucket, object.key}.text(),
                      modified ? std::chrono::system_clock::time_point(*modified) : std::chrono::system_clock::now()});
  }
  return listed;
}

Result<void> BucketOutputs::expect_writable(const std::string& folder) {
  const auto prefix = TRY(prefix_of(folder));
  const std::string probe = folder + "/.tmp/check-" + random_token();
  const auto check = [&]() -> Result<void> {
    TRY(with_s3([&](S3Client& s3) { return s3.check_bucket(prefix.bucket); }));
    TRY(write(probe, "", /*replace=*/true));
    return remove(probe);
  };
  auto checked = check();
  if (!checked) checked.error().what = folder + ": outputs cannot be written there: " + checked.error().what;
  return checked;
}

bool BucketOutputs::await_another_try(const Error& error) {
  if (error.fault != Fault::unavailable && error.fault != Fault::refused) return false;
  const auto now = Clock::real().now();
  const bool is_to_log = waiting_.with([&](Waiting& waiting) {
    if (waiting.over || (waiting.logged && now - *waiting.logged < kLogWaitEvery)) return false;
    waiting.logged = now;
    return true;
  });
  if (is_to_log)
    log(Level::warning, error.text() + ". What is transcribed is kept, and written again in 5 s and later");
  return !waiting_.wait_for(kAgainAfter, [](const Waiting& waiting) { return waiting.over; });
}

void BucketOutputs::close() {
  closed_ = true;
  waiting_.change([](Waiting& waiting) { waiting.over = true; });
}

}  // namespace tutti
