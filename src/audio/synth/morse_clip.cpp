#include "audio/synth/morse_clip.h"

#include <algorithm>
#include <cmath>

#include "audio/synth/band.h"
#include "audio/synth/contest.h"
#include "base/numbers.h"

namespace tutti {
namespace {

constexpr double kLeastNoise = 3;  // seconds, of a clip of noise only

/// As much of the text, by whole words, as fits.
KeyedText keyed_within(std::string& text, const Hand& hand, double seconds, CounterRandom& random) {
  for (;;) {
    CounterRandom fingers(random.bits64());
    KeyedText keyed = key_text(text, hand, fingers);
    if (keyed.length() <= seconds || keyed.words.size() < 2) return keyed;
    text.resize(text.rfind(' '));
  }
}

std::vector<std::int16_t> to_pcm(const std::vector<float>& audio) {
  std::vector<std::int16_t> pcm(audio.size());
  for (std::size_t i = 0; i < audio.size(); ++i) pcm[i] = static_cast<std::int16_t>(std::lrint(audio[i] * 32767));
  return pcm;
}

std::string text_of(const KeyedText& keyed) {
  std::string text;
  for (const KeyedWord& word : keyed.words) text += (text.empty() ? "" : " ") + word.text;
  return text;
}

ContestText text_of_contact(const MorseCorpus& corpus, CounterRandom& random) {
  if (corpus.contact_share > 0 && random.chance(corpus.contact_share)) return contact_text(random);
  return contest_text(random);
}

/// Seconds of the band alone before or after: one clip in five is cut close.
double beside(double least, CounterRandom& random) {
  return random.chance(0.2) ? random.uniform(least, least + 0.05) : random.uniform(0.1, 1);
}

constexpr double kMostOfWait = 0.6;  // of the longest clip, before and behind together

/// Seconds of the band alone before and behind a transmission for which the receiver waits.
struct Wait {
  double before = 0, behind = 0;
};

Wait drawn_wait(double longest, CounterRandom& random) {
  constexpr Between kSeconds{0.5, 8};
  const double drawn = random.uniform(), most = kMostOfWait * longest;
  Wait wait;
  if (drawn < 0.7) wait.before = std::min(random.uniform(kSeconds.least, kSeconds.most), most);
  if (drawn > 0.5) wait.behind = std::min(random.uniform(kSeconds.least, kSeconds.most), most - wait.before);
  return wait;
}

/// A transmitter tuned up: steady from before the clip to behind it, or for half of the clip and more.
KeyDown drawn_carrier(double seconds, CounterRandom& random) {
  if (random.chance(0.5)) return {0, seconds};
  const double length = random.uniform(seconds / 2, seconds), start = random.uniform(0, seconds - length);
  return {start, start + length};
}

Tone drawn_tone(double hertz, CounterRandom& random) {
  Tone tone;
  tone.hertz = hertz;
  tone.phase = random.uniform(0, 6.28);
  tone.edge = random.uniform(0, 0.008);  // some key hard
  tone.start = beside(0, random);
  return tone;
}

std::string range_text(const Between& range, const std::string& unit) {
  return number_text(range.least) + " to " + number_text(range.most) + unit;
}

Result<void> expect(const std::string& thing, double value, const Between& range, const std::string& unit = "") {
  if (value >= range.least && value <= range.most) return {};
  return fail(Fault::usage, thing + ": expected " + range_text(range, unit) + ", found " + number_text(value));
}

/// A span within a range.
Result<void> expect(const std::string& thing, const Between& span, const Between& range, const std::string& unit) {
  if (span.least >= range.least && span.least <= span.most && span.most <= range.most) return {};
  return fail(Fault::usage,
              thing + ": expected " + range_text(range, unit) + ", the least first; found " + range_text(span, unit));
}

}  // namespace

Result<void> check(const MorseCorpus& corpus) {
  for (const auto& checked : {
           expect("speed", corpus.wpm, {5, 100}, " wpm"),
           expect("tone", corpus.tone_hz, {200, 3000}, " Hz"),
           expect("tone over noise", corpus.noise_db.value_or(Between{}), {-20, 80}, " dB"),
           expect("share of noise", corpus.noise_share, {0, 1}),
           expect("share of carriers", corpus.carrier_share, {0, 1}),
           expect("share of waits", corpus.wait_share, {0, 1}),
           expect("share of plain text", corpus.plain_share, {0, 1}),
           expect("share of receivers", corpus.receiver_share, {0, 1}),
           expect("share of contacts", corpus.contact_share, {0, 1}),
           expect("share of hands", corpus.hand_share, {0, 1}),
           expect("share off the air", corpus.air_share, {0, 1}),
           expect("longest clip", corpus.longest.count(), {4, 600}, " s"),
       })
    if (!checked) return checked;
  return {};
}

MorseClip morse_clip(const MorseCorpus& corpus, std::int64_t index) {
  CounterRandom random({corpus.seed, digest("morse"), static_cast<std::uint64_t>(index)});
  MorseClip clip;
  clip.condition = corpus.condition.value_or(static_cast<Condition>(random.below(kConditions)));
  clip.path = radio_path_of(clip.condition, random);
  // A corpus without any of these draws nothing for them, and stays what it was before they were there.
  if (corpus.air_share > 0 && random.chance(corpus.air_share)) clip.path = off_air_path(random);
  if (corpus.noise_db) clip.path.noise_db = random.uniform(corpus.noise_db->least, corpus.noise_db->most);
  clip.tone_hz = std::round(random.uniform(corpus.tone_hz.least, corpus.tone_hz.most));
  if (corpus.receiver_share > 0 && random.chance(corpus.receiver_share))
    clip.path.receiver = drawn_receiver(clip.tone_hz, random);
  Tone tone = drawn_tone(clip.tone_hz, random);
  tone.chirp_hz = clip.path.chirp_hz;
  double after = beside(0.05, random);  // the last mark rings through the filter
  double seconds = random.uniform(kLeastNoise, std::min(corpus.longest.count(), 20.0));
  KeyedText keyed;
  if (random.chance(corpus.noise_share)) {
    clip.contest = "NOISE";
    clip.kind = "noise_only";
    clip.path.others = 0;       // another station's text would be a text
    clip.path.has_agc = false;  // and the noise is to be as strong as requested
    if (corpus.carrier_share > 0 && random.chance(corpus.carrier_share)) {
      clip.kind = "noise_carrier";
      tone.start = 0;
      keyed.downs = {drawn_carrier(seconds, random)};
    }
  } else {
    if (corpus.wait_share > 0 && random.chance(corpus.wait_share)) {
      const Wait wait = drawn_wait(corpus.longest.count(), random);
      tone.start += wait.before;
      after += wait.behind;
    }
    ContestText content = random.chance(corpus.plain_share) ? plain_text(random) : text_of_contact(corpus, random);
    clip.contest = std::move(content.contest);
    clip.kind = std::move(content.kind);
    clip.wpm = static_cast<int>(std::lround(random.uniform(corpus.wpm.least, corpus.wpm.most)));
    Hand hand{static_cast<double>(clip.wpm), clip.path.jitter};
    if (corpus.hand_share > 0 && random.chance(corpus.hand_share)) hand = drawn_hand(hand.wpm, random);
    keyed = keyed_within(content.text, hand, corpus.longest.count() - tone.start - after, random);
    clip.text = text_of(keyed);
    seconds = tone.start + keyed.length() + after;
  }
  tone.downs = keyed.downs;
  clip.words = std::move(keyed.words);
  for (KeyedWord& word : clip.words) {
    word.start += tone.start;
    word.end += tone.start;
    for (KeyDown& sign : word.symbols) sign = {sign.start + tone.start, sign.end + tone.start};
  }
  clip.pcm = to_pcm(received(std::llround(seconds * kModelRate.value), tone, clip.path, random));
  return clip;
}

}  // namespace tutti
