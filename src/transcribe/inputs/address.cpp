#include "transcribe/inputs/address.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/strings.h"
#include "base/try.h"
#include "cloud/queue_url.h"
#include "net/url_fetch.h"
#include "text/manifest/recording_names.h"

namespace tutti {

namespace fs = std::filesystem;

bool is_address(std::string_view input) {
  const auto scheme = input.substr(0, std::min(input.find("://"), input.size()));
  if (scheme.size() == input.size() || scheme.size() < 2) return false;
  return std::ranges::all_of(scheme,
                             [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-' || c == '.'; });
}

Result<void> expect_fetchable(const std::string& address) {
  if (is_s3_path(address)) return parse_s3_path(address).map([](const S3Path&) {});
  const std::size_t host = address.find("://") + 3;
  const std::string authority = address.substr(host, address.find_first_of("/?#", host) - host);
  if (authority.find('@') != std::string::npos)
    return fail(Fault::usage, shown_address(address) + ": expected no user and no password in an address",
                "Use an address that is signed, or s3:// with credentials of the environment");
  if (auto web = check_url(address); !web)
    return fail(Fault::usage, "'" + shown_address(address) + "': expected a file, or an address of http, https or s3",
                "Download it first, and name its path");
  if (!path_of_address(address).has_parent_path())
    return fail(Fault::usage, shown_address(address) + ": expected the address of a recording, found that of a host",
                "Name the recording behind the host, as in https://host/talks/monday.mp3");
  return {};
}

fs::path path_of_address(const std::string& address) {
  const bool is_object = is_s3_path(address);  // whose key may have any character
  std::string path = address.substr(std::min(address.find("://") + 3, address.size()));
  if (!is_object) path = percent_decoded(std::string_view(path).substr(0, path.find_first_of("?#")));
  fs::path below;
  for (const auto& part : fs::path(without_controls(path)).relative_path())
    if (part != ".." && part != "." && !part.empty()) below /= part;
  return below;
}

Result<void> AddressFetch::fetch(const std::string& address, int file, const std::function<bool()>& is_wanted) {
  if (auto valid = expect_fetchable(address); !valid) return valid;
  if (!is_s3_path(address)) {
    const UrlLimits limits{.most_bytes = std::numeric_limits<std::int64_t>::max(), .any_host = true};
    if (auto fetched = fetch_url(address, file, limits, [&] { return go_on_() && is_wanted(); }); !fetched)
      return fetched;
  } else {
    const auto pool = TRY(s3_.pool());
    const auto path = parse_s3_path(address);
    TRY(pool->with_s3([&](S3Client& client) { return client.fetch(*path, file); }));
  }
  struct stat facts {};
  if (::fstat(file, &facts) == 0 && facts.st_size == 0)
    return fail(Fault::corrupt, shown_address(address) + ": it is empty", "Upload the recording again");
  return {};
}

Result<std::vector<std::string>> AddressFetch::recordings_below(const std::string& folder) {
  // A folder is the beginning of keys; its name is checked as that of an object in it.
  auto path = TRY(parse_s3_path(folder + "x"));
  path.key.pop_back();
  const auto pool = TRY(s3_.pool());
  const auto objects = TRY(pool->with_s3([&](S3Client& client) { return client.list(path.bucket, path.key); }));
  std::vector<std::string> found;
  for (const S3Object& object : objects)
    if (is_recording(object.key)) found.push_back(S3Path{path.bucket, object.key}.text());
  return found;
}

}  // namespace tutti
