#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "cloud/caller_pool.h"
#include "cloud/s3.h"
#include "jobs/object_outputs.h"

namespace tutti {

/// Outputs in buckets of S3, or of a server that speaks its protocol, with the credentials and the region that AWS's
/// own tools would take. Thread-safe.
class BucketOutputs final : public ObjectOutputs {
 public:
  Result<std::optional<Facts>> look(const std::string& path) override;
  Result<std::optional<Facts>> look_at_list(const std::string& path) override;
  Result<std::string> read(const std::string& path) override;
  Result<std::optional<Facts>> write(const std::string& path, std::string_view content, bool replace) override;
  Result<void> remove(const std::string& path) override;
  Result<std::vector<Listed>> list(const std::string& folder) override;
  Result<void> expect_writable(const std::string& folder) override;
  bool await_another_try(const Error& error) override;
  void close() override;

 private:
  /// What a folder and all below it had, by path.
  struct Listing {
    Clock::Instant at{};
    std::map<std::string, Facts> objects{};
  };
  using Listings = std::map<std::string, Listing>;  // by folder
  struct Waiting {
    bool over = false;
    std::optional<Clock::Instant> logged{};
  };

  template <class Request>
  auto with_s3(Request request) -> decltype(request(std::declval<S3Client&>()));
  void note(const std::string& path, const std::optional<Facts>& facts);

  std::atomic<bool> closed_{false};
  UsualCallers callers_{[this] { return !closed_; }};
  Guarded<Listings> listings_{};
  Guarded<Waiting> waiting_{};
};

/// "s3://bucket/out" of "S3://bucket/out/": how the folder of outputs in a bucket is written, and is the beginning of
/// their paths. Fault::usage where it is none; the bucket alone is one, too.
Result<std::string> object_folder(const std::string& text);

}  // namespace tutti
