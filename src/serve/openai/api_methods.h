#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Which methods each address of the API takes, as its OpenAPI document has it. A request of OPTIONS has them
/// as its answer, and tools that test a server by its document compare the two.
///
/// Thread-safe: nothing changes after construction.
class ApiMethods {
 public:
  /// `document`: OpenAPI 3 as JSON, of which only "paths" is read. Throws what the JSON library does for other text.
  explicit ApiMethods(std::string_view document);

  /// "GET, HEAD, OPTIONS", as the header Allow has them, of a path without its query: "/v1/jobs/job_17". An address
  /// that the document does not have is read alone: the page and its files.
  std::string allowed_at(std::string_view path) const;

 private:
  /// A path of the document.
  struct Address {
    std::vector<std::string> parts{};  // between slashes; "{id}" is of any
    std::string allowed{};
  };
  std::vector<Address> addresses_{};
};

}  // namespace tutti
