#include "train/tts/voice_evaluation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/synth/audio_file.h"
#include "audio/voice/pitch.h"
#include "audio/voice/speech_distance.h"
#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/try.h"
#include "device/machine.h"
#include "feed/voice/voice_set.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "train/stop_signals.h"
#include "train/tts/task.h"
#include "train/tts/voice.h"
#include "view/charts.h"
#include "view/markup.h"

namespace tutti {
namespace {

/// A clip beside what the voice makes of its text.
struct ComparedClip {
  std::string name{};
  std::string text{};
  SpeechDistance distance{};
  double duration_ms = 0;    // mean error of its symbols' durations
  double length_ratio = 0;   // of the voice's speech to the recording
  std::int64_t symbols = 0;  // of the text
  std::vector<float>
      alignment{};  // [frames, symbols]: 1 where a frame of the recording is the symbol's, else half of how likely
  std::vector<float> recorded_mel{};  // [frames, mels], as the set has it
  std::vector<float> spoken_mel{};    // of the voice's audio
  std::vector<float> spoken{};        // samples
};

class Comparison {
 public:
  /// `speakers`: of the voice, by the set's number of theirs.
  Comparison(const Voice& voice, const VoiceSet& set, std::vector<std::int64_t> speakers)
      : voice_(voice), set_(set), speakers_(std::move(speakers)), mel_(voice.model().mel) {}

  ComparedClip compared(std::int64_t index) const {
    const auto clip = set_.clip(index);
    ComparedClip one{.name = std::string(clip.name), .text = std::string(clip.text)};
    auto speech = voice_.speak({.symbols = {clip.symbols.begin(), clip.symbols.end()}}, {.speaker = speaker_of(clip)});
    const auto& options = mel_.options();
    one.spoken = std::move(speech.samples);
    one.spoken_mel = mel_.compute(one.spoken);
    one.recorded_mel.assign(clip.mel.begin(), clip.mel.end());
    const auto pitch = pitch_of(one.spoken, {.rate = options.rate, .hop = options.hop});
    one.distance = speech_distance({.mel = one.recorded_mel, .pitch = clip.pitch, .n_mels = options.n_mels},
                                   {.mel = one.spoken_mel, .pitch = pitch, .n_mels = options.n_mels});
    one.length_ratio = static_cast<double>(pitch.size()) / static_cast<double>(clip.frames);
    align(index, one);
    return one;
  }

 private:
  std::int64_t speaker_of(const VoiceClip& clip) const { return speakers_[static_cast<std::size_t>(clip.speaker)]; }

  /// Where the means of the symbols are found in the recording, beside the durations that the network predicts.
  void align(std::int64_t index, ComparedClip& into) const {
    const c10::AutoGradMode no_gradients(false);
    const auto& model = voice_.model();
    auto rows = rows_of(set_, model, std::span(&index, 1));
    const auto device = model.network.all.front().value.device();
    for (auto* tensor : {&rows.symbols, &rows.symbol_counts, &rows.mel, &rows.frame_counts, &rows.speakers})
      *tensor = tensor->to(device);
    rows.speakers.fill_(speaker_of(set_.clip(index)));
    const auto text = encode_text(model.network, rows.symbols, rows.symbol_counts, rows.speakers);
    const auto count = set_.symbols(index), frames = set_.frames(index);
    const auto found = searched_durations(text.mean, rows)[0].narrow(0, 0, count);
    const auto predicted = text.log_durations[0].narrow(0, 0, count).exp().clamp_min(1);
    into.duration_ms = 1000 * (predicted - found).abs().mean().item<double>() * model.mel.hop / model.mel.rate.value;
    const auto likely = symbol_scores(text.mean, rows)[0].narrow(0, 0, frames).narrow(1, 0, count).softmax(1) / 2;
    const auto path = at::repeat_interleave(at::arange(count, found.options()), found).unsqueeze(1);
    const auto picture = likely.scatter(1, path, 1.0).to(at::kCPU).contiguous();
    into.alignment.assign(picture.const_data_ptr<float>(), picture.const_data_ptr<float>() + picture.numel());
    into.symbols = count;
  }

  const Voice& voice_;
  const VoiceSet& set_;
  std::vector<std::int64_t> speakers_;
  VoiceMel mel_;
};

/// The voice's speaker for each of the set's: the one of the same name, or `name` for all of them. Fault::usage where
/// one of the clips `chosen` has a speaker that the voice does not have.
Result<std::vector<std::int64_t>> speakers_for(const VoiceSet& set, const std::vector<std::int64_t>& chosen,
                                               const VoiceModel& voice, const std::string& name) {
  const auto& theirs = set.format().speakers;
  std::vector<std::int64_t> speakers(theirs.size(), 0);
  for (const auto index : chosen) {
    const auto number = static_cast<std::size_t>(set.clip(index).speaker);
    const auto found = voice.speaker_named(name.empty() ? theirs[number] : name);
    if (!found && name.empty())
      return fail(Fault::usage, "clip " + std::string(set.clip(index).name) + ": " + found.error().what,
                  found.error().hint + ". Choose the one who speaks for all clips with " + field("speaker"));
    TRY(found);
    speakers[number] = *found;
  }
  return speakers;
}

VoiceMeasures means_of(const std::vector<ComparedClip>& clips) {
  VoiceMeasures sums{.clips = std::ssize(clips)};
  for (const auto& clip : clips) {
    sums.cepstral += clip.distance.cepstral;
    sums.pitch_cents += clip.distance.pitch_cents;
    sums.gross_share += clip.distance.gross_share;
    sums.voicing_share += clip.distance.voicing_share;
    sums.duration_ms += clip.duration_ms;
    sums.length_ratio += clip.length_ratio;
  }
  const auto count = static_cast<double>(clips.size());
  for (double VoiceMeasures::*sum :
       {&VoiceMeasures::cepstral, &VoiceMeasures::pitch_cents, &VoiceMeasures::gross_share,
        &VoiceMeasures::voicing_share, &VoiceMeasures::duration_ms, &VoiceMeasures::length_ratio})
    sums.*sum /= count;
  return sums;
}

constexpr GridPicture kPicture{.most_columns = 240, .most_rows = 80, .scale = 2};

/// Spectrograms of some clips, the recording's above the voice's, and the alignment of the recording.
std::string report_svg(const std::vector<ComparedClip>& clips, std::int64_t mels) {
  constexpr std::size_t kMost = 4;
  constexpr double kWidth = 500, kLabel = 20, kMargin = 10;
  constexpr double kPictureHeight = kPicture.most_rows * kPicture.scale + kLabel + kMargin;
  const auto count = std::min(kMost, clips.size());
  double top = 0;
  std::string svg = svg_head(kWidth, static_cast<double>(3 * count) * kPictureHeight);
  const auto add = [&](const std::string& label, const std::vector<float>& values, std::int64_t rows) {
    const auto moved = [](double y) { return "<g transform=\"translate(10," + fixed_text(y, 0) + ")\">"; };
    svg += moved(top) + "<text y=\"14\">" + escaped_markup(label) + "</text></g>\n" + moved(top + kLabel) +
           grid_picture_svg(values, rows, kPicture) + "</g>\n";
    top += kPictureHeight;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto& clip = clips[i * clips.size() / count];
    add(clip.name + ", recorded", clip.recorded_mel, mels);
    add("the voice: " + clip.text, clip.spoken_mel, mels);
    add("alignment: symbols upwards, frames of the recording to the right", clip.alignment, clip.symbols);
  }
  return marked_svg(svg + "</svg>\n", kEvaluationMark);
}

std::string player_of(std::span<const float> samples, Hertz rate) {
  return audio_player(url_of_bytes("audio/wav", wav_bytes(pcm_of(samples), rate)));
}

/// Clips with the largest distance first: both spectrograms, and both to hear.
std::string report_html(std::vector<ComparedClip> clips, const Voice& voice, const std::string& summary) {
  constexpr std::size_t kMost = 20;
  const auto& mel = voice.model().mel;
  std::ranges::stable_sort(clips, std::ranges::greater(), [](const auto& clip) { return clip.distance.cepstral; });
  std::string html = report_head("Voice", kEvaluationMark) + "<h1>Voice</h1>\n<p>" + escaped_markup(summary) +
                     "</p>\n<p>Both sides pass the same vocoder: the recording as the set's spectrogram.</p>\n"
                     "<table><tr><th>clip<th>recording<th>voice<th>symbols, upwards, of the recording</tr>\n";
  for (std::size_t i = 0; i < std::min(kMost, clips.size()); ++i) {
    const auto& clip = clips[i];
    const auto frames = std::ssize(clip.recorded_mel) / mel.n_mels;
    html += "<tr><td>" + escaped_markup(clip.name) + "<br>" + escaped_markup(clip.text) + "<br>" +
            fixed_text(clip.distance.cepstral, 2) + " dB, " + fixed_text(clip.distance.pitch_cents, 0) +
            " cents, length " + fixed_text(clip.length_ratio, 2) + "<td>" +
            grid_picture_svg(clip.recorded_mel, mel.n_mels, kPicture) +
            player_of(voice.audio_of(clip.recorded_mel, frames), mel.rate) + "<td>" +
            grid_picture_svg(clip.spoken_mel, mel.n_mels, kPicture) + player_of(clip.spoken, mel.rate) + "<td>" +
            grid_picture_svg(clip.alignment, clip.symbols, kPicture) + "</tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

Result<VoiceMeasures> evaluate_voice(const VoiceEvaluationRequest& request) {
  set_compute_threads(request.threads, read_cpu().cores);
  const auto device = TRY(device_named(request.device));
  const auto voice = TRY(Voice::load(request.model, device));
  const auto set = TRY(VoiceSet::open(request.data));
  TRY(voice.model().expect_form_of(*set, request.model));
  const auto part = set->part(request.part);
  const auto chosen =
      spread_evenly(part, request.samples > 0 ? static_cast<std::size_t>(request.samples) : part.size());
  if (chosen.empty())
    return fail(Fault::usage, request.data.string() + ": the part has no clip to evaluate with",
                "Name the other part with " + field("split"));
  auto speakers = TRY(speakers_for(*set, chosen, voice.model(), request.speaker));
  const Comparison comparison(voice, *set, std::move(speakers));
  std::vector<ComparedClip> clips;
  for (const auto index : chosen) {
    if (stop_requested()) return fail(Fault::cancelled, "the evaluation was interrupted");
    clips.push_back(comparison.compared(index));
  }
  const auto measures = means_of(clips);
  if (!request.report.empty()) {
    OutputOwnership files("Name another file with " + field("report"));  // what it is not to replace was refused before
    TRY(files.claim_marked(request.report, field("report"), kEvaluationMark));
    const auto page = request.report.extension() == ".svg" ? report_svg(clips, voice.model().mel.n_mels)
                                                           : report_html(clips, voice, measures_text(measures));
    TRY(files.write(request.report, page));
  }
  return measures;
}

std::string measures_text(const VoiceMeasures& m) {
  return std::to_string(m.clips) + " clips: mel cepstral distance " + fixed_text(m.cepstral, 2) + " dB, pitch " +
         fixed_text(m.pitch_cents, 0) + " cents (" + fixed_text(100 * m.gross_share, 1) +
         " % of frames are more than 20 % off), " + fixed_text(100 * m.voicing_share, 1) +
         " % of frames voiced in one alone, durations " + fixed_text(m.duration_ms, 1) + " ms a symbol, length " +
         fixed_text(m.length_ratio, 3) + " of the recording's";
}

std::string measures_json(const VoiceMeasures& m) {
  return json_line(nlohmann::ordered_json{{"clips", m.clips},
                                          {"mel_cepstral_distance_db", m.cepstral},
                                          {"pitch_error_cents", m.pitch_cents},
                                          {"gross_pitch_error", m.gross_share},
                                          {"voicing_error", m.voicing_share},
                                          {"duration_error_ms", m.duration_ms},
                                          {"length_ratio", m.length_ratio}});
}

}  // namespace tutti
