#include "cloud/s3.h"

#include <algorithm>
#include <span>

#include "base/files.h"
#include "base/numbers.h"
#include "base/try.h"
#include "cloud/aws_answer.h"

namespace tutti {
namespace {

std::int64_t size_in(const HttpReply& reply) {
  return number_in<std::int64_t>(reply.header("content-length")).value_or(-1);
}

/// A bucket with a dot has no certificate of its own name, and other servers often have no names for buckets at all.
bool is_host_name(const std::string& bucket) {
  return std::ranges::all_of(bucket,
                             [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

/// What one download has written, over its attempts.
class Download {
 public:
  Download(int file, const std::string& thing) : file_(file), thing_(thing) {}

  std::int64_t written = 0;
  std::int64_t expected = -1;  // the whole object's bytes
  std::string etag{};
  Result<void> kept{};  // what went wrong on our side

  bool take(const HttpReply& head, std::string_view piece) {
    if (etag.empty()) {
      etag = head.header("etag");
      expected = size_in(head);
    }
    if (head.status == 200 && written > 0 && !from_start_) return restart();
    kept = write_at(file_, std::as_bytes(std::span(piece)), written, thing_);
    if (kept) written += static_cast<std::int64_t>(piece.size());
    return kept.has_value();
  }

  /// Before every attempt.
  void begin() { from_start_ = written == 0; }

 private:
  bool restart() {
    kept = fail(Fault::unsupported, thing_ + ": the server began again where a part was requested");
    return false;
  }

  const int file_;
  const std::string& thing_;
  bool from_start_ = true;  // this attempt began with the first byte
};

}  // namespace

AwsRequest S3Client::request_of(const std::string& method, const S3Path& path) const {
  AwsRequest request{.method = method, .origin = service_origin("s3", location_.region, location_.endpoint_url)};
  if (!has_own_endpoint("s3", location_.endpoint_url) && is_host_name(path.bucket)) {
    request.origin.insert(std::string("https://").size(), path.bucket + ".");
    request.path = "/" + path.key;
  } else {
    request.path = "/" + path.bucket + (path.key.empty() ? "" : "/" + path.key);
  }
  return request;
}

Result<std::optional<S3Object>> S3Client::head(const S3Path& path) {
  const auto answer = caller_.call(scope(), request_of("HEAD", path), path.text());
  if (answer)
    return S3Object{path.key, std::max<std::int64_t>(0, size_in(answer->reply)),
                    std::string(answer->reply.header("etag"))};
  if (answer.error().fault == Fault::missing) return std::nullopt;
  return tl::unexpected(answer.error());
}

Result<S3Object> S3Client::fetch(const S3Path& path, int file) {
  const std::string thing = path.text();
  Download download(file, thing);
  for (int failures = 1;; ++failures) {
    AwsRequest request = request_of("GET", path);
    const std::int64_t from = download.written;
    if (from > 0) {
      request.headers.emplace_back("range", "bytes=" + std::to_string(from) + "-");
      request.headers.emplace_back("if-match", download.etag);
    }
    download.begin();
    auto streamed = caller_.stream(scope(), request, thing, [&](const HttpReply& head, std::string_view piece) {
      return download.take(head, piece);
    });
    if (!download.kept) return tl::unexpected(download.kept.error());
    if (streamed.error.status == 412)
      return fail(Fault::unavailable, thing + ": it was replaced while it was fetched", "Try again");
    const bool whole = download.expected < 0 || download.written == download.expected;
    if (!streamed.failed && whole) return S3Object{path.key, download.written, download.etag};
    if (!streamed.failed || (download.expected >= 0 && download.written > download.expected))
      return fail(Fault::unavailable, thing + ": expected " + std::to_string(download.expected) + " bytes, found " +
                                          std::to_string(download.written));
    if (download.written > from) failures = 1;  // it goes on
    if (!caller_.pause(streamed.error, streamed.reply, failures)) return tl::unexpected(streamed.error.error);
  }
}

Result<std::string> S3Client::get(const S3Path& path) {
  auto answer = TRY(caller_.call(scope(), request_of("GET", path), path.text()));
  return std::move(answer.body);
}

Result<PutEnd> S3Client::end_of(Result<FetchedAnswer> answer, PutMode mode) {
  put_etag_ = answer ? std::string(answer->reply.header("etag")) : "";
  if (answer) return PutEnd::done;
  if (mode == PutMode::only_new && caller_.last_error().status == 412) return PutEnd::was_there;
  return tl::unexpected(answer.error());
}

Result<PutEnd> S3Client::put(const S3Path& path, const std::string& content, const std::string& content_type,
                             PutMode mode) {
  AwsRequest request = request_of("PUT", path);
  request.headers.emplace_back("content-type", content_type);
  if (mode == PutMode::only_new) request.headers.emplace_back("if-none-match", "*");
  request.body = content;
  return end_of(caller_.call(scope(), request, path.text()), mode);
}

Result<void> S3Client::check_bucket(const std::string& bucket) {
  AwsRequest request = request_of("GET", {bucket, ""});
  request.query = {{"list-type", "2"}, {"max-keys", "1"}};
  TRY(caller_.call(scope(), request, "bucket " + bucket));
  return {};
}

Result<std::vector<S3Object>> S3Client::list(const std::string& bucket, const std::string& prefix) {
  std::vector<S3Object> objects;
  std::string more;
  do {
    AwsRequest request = request_of("GET", {bucket, ""});
    request.query = {{"list-type", "2"}, {"prefix", prefix}};
    if (!more.empty()) request.query.emplace_back("continuation-token", more);
    const auto answer = caller_.call(scope(), request, "s3://" + bucket + "/" + prefix);
    if (!answer) return tl::unexpected(answer.error());
    for (const auto entry : xml_elements(answer->body, "Contents"))
      objects.push_back({xml_text(entry, "Key"), number_in<std::int64_t>(xml_text(entry, "Size")).value_or(0),
                         xml_text(entry, "ETag"), xml_text(entry, "LastModified")});
    more = xml_text(answer->body, "NextContinuationToken");
  } while (!more.empty());
  return objects;
}

Result<void> S3Client::remove(const S3Path& path) {
  const auto answer = caller_.call(scope(), request_of("DELETE", path), path.text());
  if (answer || answer.error().fault == Fault::missing) return {};
  return tl::unexpected(answer.error());
}

}  // namespace tutti
