#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/field_names.h"
#include "base/output_ownership.h"
#include "base/try.h"
#include "profile/profile_page.h"

namespace tutti {

/// The file that `html` of a profile names. It is claimed before the run, so that no run is made for a page that cannot
/// be written.
class PageFile {
 public:
  /// `file`: empty: none is wanted. Fault::usage where it is one of `inputs`, or is there and no such page.
  static Result<PageFile> claim(const std::filesystem::path& file, const std::vector<std::string>& inputs) {
    PageFile page;
    page.file_ = file;
    for (const std::string& input : inputs)
      if (std::error_code ignored; std::filesystem::exists(input, ignored)) page.owned_.add_input(input);
    if (file.empty()) return page;
    TRY(page.owned_.claim_marked(file, field("html"), kProfilePageMark));
    return page;
  }

  bool is_wanted() const { return !file_.empty(); }
  Result<void> write(const ProfilePage& page) const {
    return owned_.write(file_, profile_html(page)).map([](bool) {});
  }

 private:
  std::filesystem::path file_{};
  OutputOwnership owned_{"Name another file with " + field("html")};
};

}  // namespace tutti
