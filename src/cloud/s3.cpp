#include "cloud/s3.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>

#include "base/files.h"
#include "base/numbers.h"
#include "base/owned.h"
#include "cloud/answer_text.h"

namespace tutti {
namespace {

constexpr std::int64_t kPart = 16 << 20;  // bytes; S3 takes 10,000 parts, so 160 GB

std::int64_t size_in(const HttpReply& reply) {
  return number_in<std::int64_t>(reply.header("content-length")).value_or(-1);
}

/// A bucket with a dot has no certificate of its own name, and other servers often have no names for buckets at all.
bool is_host_name(const std::string& bucket) {
  return std::ranges::all_of(bucket,
                             [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

/// What one download has written, over its attempts.
struct Download {
  int file;
  const std::string& thing;
  std::int64_t written = 0;
  std::int64_t expected = -1;  // the whole object's bytes
  std::string etag{};
  Result<void> kept{};  // what went wrong on our side

  bool take(const HttpReply& head, std::string_view piece) {
    if (etag.empty()) {
      etag = head.header("etag");
      expected = size_in(head);
    }
    if (head.status == 200 && written > 0 && !resumed_) return restart();
    kept = write_at(file, std::as_bytes(std::span(piece)), written, thing);
    if (kept) written += static_cast<std::int64_t>(piece.size());
    return kept.has_value();
  }

  /// Before every attempt.
  void begin() { resumed_ = written == 0; }

 private:
  bool restart() {
    kept = fail(Fault::unsupported, thing + ": the server began again where a part was requested");
    return false;
  }
  bool resumed_ = true;  // this attempt began with the first byte
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
  Download download{file, thing};
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
      return fail(Fault::corrupt, thing + ": it was replaced while it was fetched", "Try again");
    const bool whole = download.expected < 0 || download.written == download.expected;
    if (!streamed.failed && whole)
      return S3Object{path.key, download.written, std::string(streamed.reply.header("etag"))};
    if (!streamed.failed || download.written > download.expected)
      return fail(Fault::corrupt, thing + ": expected " + std::to_string(download.expected) + " bytes, found " +
                                      std::to_string(download.written));
    if (download.written > from) failures = 1;  // it goes on
    if (!caller_.pause(streamed.error, streamed.reply, failures)) return tl::unexpected(streamed.error.error);
  }
}

Result<PutEnd> S3Client::end_of(Result<FetchedAnswer> answer, PutMode mode) {
  if (answer) return PutEnd::done;
  const bool there = answer.error().what.find("status 412") != std::string::npos;
  if (mode == PutMode::only_new && there) return PutEnd::was_there;
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

Result<PutEnd> S3Client::put_file(const S3Path& path, const std::filesystem::path& file, PutMode mode) {
  struct stat facts {};
  const OwnedFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fstat(fd.get(), &facts) != 0) return fail_errno(file.string(), "cannot be read");
  if (facts.st_size <= kPart) {
    const auto content = read_file(file);
    if (!content) return tl::unexpected(content.error());
    return put(path, *content, "application/octet-stream", mode);
  }
  const auto upload = begin_parts(path);
  if (!upload) return tl::unexpected(upload.error());
  const auto parts = put_parts(path, fd.get(), facts.st_size, *upload);
  auto ended = parts ? complete_parts(path, *upload, *parts, mode) : tl::unexpected<Error>(parts.error());
  if (ended && *ended == PutEnd::done) return ended;
  AwsRequest abort = request_of("DELETE", path);
  abort.query.emplace_back("uploadId", *upload);
  static_cast<void>(caller_.call(scope(), abort, path.text()));  // else they are paid for without being seen
  return ended;
}

Result<std::string> S3Client::begin_parts(const S3Path& path) {
  AwsRequest request = request_of("POST", path);
  request.query.emplace_back("uploads", "");
  const auto answer = caller_.call(scope(), request, path.text());
  if (!answer) return tl::unexpected(answer.error());
  const std::string id = xml_text(answer->body, "UploadId");
  if (id.empty()) return fail(Fault::corrupt, path.text() + ": expected the id of an upload, found another answer");
  return id;
}

/// The list of parts that CompleteMultipartUpload takes.
Result<std::string> S3Client::put_parts(const S3Path& path, int fd, std::int64_t size, const std::string& upload) {
  std::string list;
  for (std::int64_t at = 0, number = 1; at < size; at += kPart, ++number) {
    AwsRequest request = request_of("PUT", path);
    request.query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}};
    request.body.resize(static_cast<std::size_t>(std::min(kPart, size - at)));
    const auto read = read_at(fd, std::as_writable_bytes(std::span(request.body)), at, path.text());
    if (!read) return tl::unexpected(read.error());
    if (*read != request.body.size())
      return fail(Fault::corrupt, path.text() + ": the file became shorter while it was uploaded");
    const auto answer = caller_.call(scope(), request, path.text());
    if (!answer) return tl::unexpected(answer.error());
    list += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" +
            std::string(answer->reply.header("etag")) + "</ETag></Part>";
  }
  return list;
}

Result<PutEnd> S3Client::complete_parts(const S3Path& path, const std::string& upload, const std::string& parts,
                                        PutMode mode) {
  AwsRequest request = request_of("POST", path);
  request.query.emplace_back("uploadId", upload);
  request.headers.emplace_back("content-type", "application/xml");
  if (mode == PutMode::only_new) request.headers.emplace_back("if-none-match", "*");
  request.body = "<CompleteMultipartUpload>" + parts + "</CompleteMultipartUpload>";
  auto answer = caller_.call(scope(), request, path.text());
  if (answer && !xml_text(answer->body, "Code").empty())  // S3 answers 200 before it knows
    return fail(Fault::unavailable,
                path.text() + ": the parts were not put together: " + xml_text(answer->body, "Code"));
  return end_of(std::move(answer), mode);
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
                         xml_text(entry, "ETag")});
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
