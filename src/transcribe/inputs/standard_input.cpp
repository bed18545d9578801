#include "transcribe/inputs/standard_input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>

#include "base/files.h"
#include "base/process/line_reader.h"
#include "base/try.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

constexpr std::size_t kHead = 4096;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && c != '\0' && c != '\t' && c != '\n' && c != '\r';
}

}  // namespace

/// Of a list with NULs the first name is that of a file: "RIFF", "OggS" and the like are not.
bool StandardInput::is_recording_begun() const {
  if (std::ranges::any_of(head_, is_control)) return true;
  const auto end = head_.find('\0');
  if (end == std::string::npos) return false;
  const std::string first = head_.substr(0, end);
  return !is_recording(first) && (first.empty() || !is_there(first));
}

Result<void> StandardInput::begin() {
  const auto has = [this](char c) { return head_.find(c) != std::string::npos; };
  for (ssize_t got = 1; got > 0 && head_.size() < kHead && !has('\0') && !has('\n');) {
    char block[kHead];
    do got = ::read(STDIN_FILENO, block, sizeof block);
    while (got < 0 && errno == EINTR);
    if (got < 0) return tl::unexpected<Error>(system_error("standard input", "cannot be read", errno));
    head_.append(block, static_cast<std::size_t>(got));
  }
  if (is_recording_begun()) return keep_recording();
  if (has('\0')) name_end_ = '\0';
  return {};
}

Result<std::vector<std::string>> StandardInput::names() const {
  LineReader lines(STDIN_FILENO, head_, name_end_);
  std::vector<std::string> all;
  while (true) {
    const auto some = lines.next();
    if (!some) return some;
    if (some->empty()) return all;
    all.insert(all.end(), some->begin(), some->end());
  }
}

Result<void> StandardInput::keep_recording() {
  folder_.emplace();
  const auto folder = TRY(folder_->path());
  audio_ = folder / "standard-input";
  std::ofstream file(audio_, std::ios::binary);
  file << head_;
  if (std::cin.peek() != std::istream::traits_type::eof()) file << std::cin.rdbuf();
  file.close();
  if (!file) return fail(Fault::unavailable, "standard input could not be kept in " + audio_.string());
  return {};
}

}  // namespace tutti
