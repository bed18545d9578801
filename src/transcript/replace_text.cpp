#include "transcript/replace_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

std::u32string edited(std::u32string_view text, const std::vector<TextEdit>& edits) {
  std::u32string out;
  std::size_t at = 0;
  for (const auto& edit : edits) {
    out.append(text.substr(at, edit.begin - at)).append(edit.text);
    at = edit.end;
  }
  return out.append(text.substr(at));
}

/// Returns how many texts were replaced.
std::size_t replace_in(std::string& text, const ReplacementList& list) {
  const std::u32string code_points = to_code_points(text);
  const auto edits = list.edits_of(code_points);
  if (!edits.empty()) text = to_utf8(edited(code_points, edits));
  return edits.size();
}

/// Words as one text, of which every character belongs to a word.
class WordTexts {
 public:
  explicit WordTexts(std::vector<Word>& words) : words_(words), texts_(words.size()), into_(words.size()) {
    for (std::size_t word = 0; word < words.size(); ++word) {
      into_[word] = word;
      const auto text = to_code_points(words[word].word);
      text_ += text;
      word_of_.insert(word_of_.end(), text.size(), word);
    }
  }

  void replace(const ReplacementList& list) {
    const auto edits = list.edits_of(text_);
    if (edits.empty()) return;
    std::size_t at = 0;
    for (const auto& edit : edits) {
      keep(at, edit.begin);
      put(edit);
      at = edit.end;
    }
    keep(at, text_.size());
    take_over();
  }

 private:
  /// Characters that stay stay with their words.
  void keep(std::size_t from, std::size_t to) {
    for (; from < to; ++from) texts_[into_[word_of_[from]]] += text_[from];
  }

  /// Gives the parts of a new text to the words of the old one. A word without a part goes into the last that has one.
  void put(const TextEdit& edit) {
    std::vector<std::size_t> parts{into_[word_of_[edit.begin]]};
    const auto most = 1 + static_cast<std::size_t>(std::ranges::count(edit.text, U' '));
    for (std::size_t word = word_of_[edit.begin] + 1; word <= word_of_[edit.end - 1]; ++word) {
      if (parts.size() < most)
        parts.push_back(word);
      else
        into_[word] = parts.back();
    }
    std::size_t part = 0;
    for (const char32_t c : edit.text) {
      if (c == U' ' && part + 1 < parts.size()) ++part;
      texts_[parts[part]] += c;
    }
  }

  /// Writes the texts back; a word whose characters went to another one gives it its time.
  void take_over() {
    std::vector<Word> out;
    for (std::size_t word = 0; word < words_.size(); ++word) {
      if (into_[word] == word) {
        out.push_back(std::move(words_[word]));
        out.back().word = to_utf8(texts_[word]);
      } else {
        out.back().end = words_[word].end;
        out.back().probability = std::min(out.back().probability, words_[word].probability);
      }
    }
    words_ = std::move(out);
  }

  std::vector<Word>& words_;
  std::u32string text_;
  std::vector<std::size_t> word_of_;   // of each character of the text
  std::vector<std::u32string> texts_;  // the new ones
  std::vector<std::size_t> into_;      // the word that has its characters now
};

}  // namespace

std::size_t replace_text(Segment& segment, const ReplacementList& list) {
  if (!segment.words.empty()) WordTexts(segment.words).replace(list);
  return replace_in(segment.text, list);
}

std::size_t replace_text(Transcript& transcript, const ReplacementList& list) {
  const auto joined_text = [&] {
    std::string text;
    for (const auto& segment : transcript.segments) text += segment.text;
    return text;
  };
  const bool is_joined = transcript.text == joined_text();
  std::size_t count = 0;
  for (auto& segment : transcript.segments) count += replace_text(segment, list);
  if (is_joined)
    transcript.text = joined_text();
  else
    replace_in(transcript.text, list);
  return count;
}

std::vector<Segment> with_replacements(std::vector<Segment> segments, const ReplacementList* list) {
  if (list)
    for (auto& segment : segments) replace_text(segment, *list);
  return segments;
}

}  // namespace tutti
