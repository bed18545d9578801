#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "cloud/aws_caller.h"
#include "cloud/aws_request.h"
#include "cloud/queue_url.h"

namespace tutti {

/// What S3 has under a key.
struct S3Object {
  std::string key{};
  std::int64_t size = 0;   // bytes
  std::string etag{};      // with its quotes, as S3 writes it; changes with the content
  std::string modified{};  // "2026-11-29T18:02:00.000Z"; empty: not from a list
};

/// Whether a PUT may replace what is there.
enum class PutMode {
  replace,
  only_new,  // If-None-Match: *, the way to publish a result exactly once
};

/// How an upload ended that was not an error.
enum class PutEnd {
  done,
  was_there,  // another has put it before: 412, only with PutMode::only_new
};

/// A client of S3, or of a server that speaks its protocol. One thread at a time.
class S3Client {
 public:
  S3Client(AwsCaller& caller, AwsLocation location) : caller_(caller), location_(std::move(location)) {}

  /// None: there is no such object.
  Result<std::optional<S3Object>> head(const S3Path& path);

  /// Writes the object to an open, empty file. A lost connection goes on from the byte where it ended, and only while
  /// the object is the same: Fault::unavailable where it has changed meanwhile or came shorter or longer than S3
  /// announced it, Fault::missing where it is not there. Returns what was fetched, with the etag of its first byte.
  Result<S3Object> fetch(const S3Path& path, int file);

  /// What an object of at most 8 MiB has.
  Result<std::string> get(const S3Path& path);

  /// Puts a text.
  Result<PutEnd> put(const S3Path& path, const std::string& content, const std::string& content_type, PutMode mode);
  /// Of the object that the latest put wrote, as S3Object::etag.
  const std::string& put_etag() const { return put_etag_; }

  /// Whether the bucket is there, in this region, and its objects may be listed by these credentials.
  Result<void> check_bucket(const std::string& bucket);

  /// All objects whose key begins with `prefix`, in S3's order.
  Result<std::vector<S3Object>> list(const std::string& bucket, const std::string& prefix);

  /// Removes an object; one that is not there is no error.
  Result<void> remove(const S3Path& path);

 private:
  AwsRequest request_of(const std::string& method, const S3Path& path) const;
  SigningScope scope() const { return {"s3", location_.region}; }
  Result<PutEnd> end_of(Result<FetchedAnswer> answer, PutMode mode);

  AwsCaller& caller_;
  AwsLocation location_;
  std::string put_etag_{};
};

}  // namespace tutti
