#include <algorithm>

#include "base/files.h"
#include "text/vocabulary.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

Result<fs::path> file_in(const fs::path& path) {
  std::error_code ignored;  // reading the file reports what matters
  if (!fs::is_directory(path, ignored)) return path;
  if (fs::exists(path / "tokenizer.json", ignored)) return path / "tokenizer.json";
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path, ignored))
    if (entry.path().extension() == ".tiktoken") found.push_back(entry.path());
  if (found.size() == 1) return found.front();
  return fail(Fault::missing,
              path.string() + ": expected tokenizer.json or one .tiktoken file, found " + std::to_string(found.size()) +
                  " .tiktoken files",
              "Copy tokenizer.json from where the model came from");
}

}  // namespace

Result<Tokenizer> Tokenizer::parse(std::string_view content, std::optional<std::int32_t> n_vocab) {
  const bool json = content.substr(0, 64).find('{') != content.npos;  // base64 has no braces
  auto file = json ? parse_tokenizer_json(content) : parse_tiktoken(content);
  if (!file) return tl::unexpected(file.error());
  auto special = json ? special_tokens_from(file->added, n_vocab)
                      : special_tokens_for(static_cast<std::int32_t>(file->tokens.size()), n_vocab);
  if (!special) return tl::unexpected(special.error());
  auto vocabulary = Vocabulary::build(std::move(*file), std::move(*special));
  if (!vocabulary) return tl::unexpected(vocabulary.error());
  return Tokenizer(std::move(*vocabulary));
}

Result<Tokenizer> Tokenizer::load(const fs::path& path, std::optional<std::int32_t> n_vocab) {
  const auto file = file_in(path);
  if (!file) return tl::unexpected(file.error());
  const auto content = MappedFile::open(*file);
  if (!content) return tl::unexpected(content.error());
  auto tokenizer = parse(content->text(), n_vocab);
  if (!tokenizer) return fail_in(file->string(), std::move(tokenizer.error()));
  return tokenizer;
}

}  // namespace tutti
