#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/owned.h"

namespace tutti {

/// One request as tests/hub/hub_server.py noted it.
struct SeenRequest {
  std::string server;  // "Hub" or "Storage"
  std::string path;
  std::string range;
  std::string authorization;
};

/// A local hub over the folder `root` (root/<organisation>/<name>/<file>), gone with this object or with the test.
/// `faults` is the JSON object that hub_server.py describes.
class HubServer {
 public:
  explicit HubServer(std::filesystem::path root, const std::string& faults = "{}");
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;
  ~HubServer();

  const std::string& endpoint() const { return endpoint_; }
  std::vector<SeenRequest> requests() const;

 private:
  std::filesystem::path root_;
  std::string endpoint_;
  OwnedFd input_;  // the server ends when this closes
  pid_t child_ = -1;
};

/// Writes a small complete model folder: config.json, tokenizer.json, and a safetensors file with `floats` numbers.
void write_model(const std::filesystem::path& folder, int floats = 1000);

}  // namespace tutti
