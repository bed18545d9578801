#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Which methods each address of the API takes, as its OpenAPI document has it. Immutable: any thread.
class ApiMethods {
 public:
  /// `document`: OpenAPI 3 as JSON, of which only "paths" is read. Throws what the JSON library does for other text.
  explicit ApiMethods(std::string_view document);

  /// "GET, HEAD, OPTIONS", as the header Allow has them. An address that the document does not have is read alone.
  std::string allowed_at(std::string_view path) const;

 private:
  struct Address {
    std::vector<std::string> parts{};  // "{id}" stands for any
    std::string allowed{};
  };
  std::vector<Address> addresses_{};
};

}  // namespace tutti
