#include "feed/packed/sample_facts.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace tutti {
namespace {

void put(ByteWriter& out, const std::vector<TimedText>& texts) {
  out.put(static_cast<std::uint32_t>(texts.size()));
  for (const TimedText& text : texts) {
    out.put(text.start);
    out.put(text.end);
    out.put(std::string_view(text.text));
  }
}

void get(ByteReader& in, std::vector<TimedText>& texts) {
  std::uint32_t count = 0;
  in.get(count);
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    TimedText& text = texts.emplace_back();
    in.get(text.start);
    in.get(text.end);
    in.get(text.text);
  }
}

void put(ByteWriter& out, const std::vector<std::string>& texts) {
  out.put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) out.put(std::string_view(text));
}

void get(ByteReader& in, std::vector<std::string>& texts) {
  std::uint32_t count = 0;
  in.get(count);
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) in.get(texts.emplace_back());
}

}  // namespace

std::string write_facts(const BatchSample& sample) {
  ByteWriter out;
  out.put(std::string_view(sample.id));
  out.put(std::string_view(sample.text));
  put(out, sample.times);
  put(out, sample.words);
  out.put(std::string_view(sample.audio.native()));
  out.put(sample.start);
  out.put(sample.begins);
  put(out, sample.fields);
  return out.take();
}

std::string write_facts(const BadFacts& bad) {
  ByteWriter out;
  out.put(std::string_view(bad.id));
  out.put(std::string_view(bad.reason));
  return out.take();
}

std::optional<BatchSample> read_facts(std::string_view bytes) {
  ByteReader in(bytes);
  BatchSample sample;
  std::string audio;
  in.get(sample.id);
  in.get(sample.text);
  get(in, sample.times);
  get(in, sample.words);
  in.get(audio);
  in.get(sample.start);
  in.get(sample.begins);
  get(in, sample.fields);
  sample.audio = std::move(audio);
  return in.finished() ? std::optional(std::move(sample)) : std::nullopt;
}

std::optional<BadFacts> read_bad_facts(std::string_view bytes) {
  ByteReader in(bytes);
  BadFacts bad;
  in.get(bad.id);
  in.get(bad.reason);
  return in.finished() ? std::optional(std::move(bad)) : std::nullopt;
}

}  // namespace tutti
