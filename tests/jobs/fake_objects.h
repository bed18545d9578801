#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "jobs/object_outputs.h"

namespace tutti {

/// Buckets in memory. Not more than a map: what S3 does is tested with a server of its protocol.
class FakeObjects final : public ObjectOutputs {
 public:
  struct Object {
    std::string content{};
    std::int64_t version = 0;
    std::chrono::system_clock::time_point modified{};
  };

  /// The next writes fail with it, and each is waited for by one call of `await_another_try`.
  int failing_writes = 0;
  int waits = 0;
  bool waits_for_service = false;

  void put(const std::string& path, std::string content, std::chrono::hours age = {}) {
    objects_.with([&](auto& all) {
      all[path] = {std::move(content), ++versions_, std::chrono::system_clock::now() - age};
    });
  }
  std::map<std::string, std::string> contents() {
    return objects_.with([](const auto& all) {
      std::map<std::string, std::string> texts;
      for (const auto& [path, object] : all) texts[path] = object.content;
      return texts;
    });
  }

  Result<std::optional<Facts>> look(const std::string& path) override {
    return objects_.with([&](const auto& all) -> std::optional<Facts> {
      const auto found = all.find(path);
      if (found == all.end()) return {};
      return Facts{static_cast<std::int64_t>(found->second.content.size()), found->second.version};
    });
  }
  Result<std::optional<Facts>> look_at_list(const std::string& path) override { return look(path); }
  Result<std::string> read(const std::string& path) override {
    return objects_.with([&](const auto& all) -> Result<std::string> {
      const auto found = all.find(path);
      if (found == all.end()) return fail(Fault::missing, path + ": it is not there");
      return found->second.content;
    });
  }
  Result<std::optional<Facts>> write(const std::string& path, std::string_view content, bool replace) override {
    if (failing_writes > 0 && failing_writes--) return fail(Fault::unavailable, path + ": no whole answer came");
    const bool is_new = objects_.with([&](const auto& all) { return !all.contains(path); });
    if (!is_new && !replace) return std::nullopt;
    put(path, std::string(content));
    return look(path);
  }
  Result<void> remove(const std::string& path) override {
    objects_.with([&](auto& all) { all.erase(path); });
    return {};
  }
  Result<std::vector<Listed>> list(const std::string& folder) override {
    return objects_.with([&](const auto& all) {
      std::vector<Listed> listed;
      for (const auto& [path, object] : all)
        if (path.starts_with(folder + "/")) listed.push_back({path, object.modified});
      return listed;
    });
  }
  Result<void> expect_writable(const std::string&) override { return {}; }
  bool await_another_try(const Error& error) override {
    if (!waits_for_service || error.fault != Fault::unavailable) return false;
    ++waits;
    return true;
  }
  void close() override { waits_for_service = false; }

 private:
  Guarded<std::map<std::string, Object>> objects_{};
  std::int64_t versions_ = 0;
};

}  // namespace tutti
