#pragma once

#include <nanobind/nanobind.h>

// One file a class: each adds its own to the module.
namespace tutti::python {

void add_recording(nanobind::module_& module);
void add_options(nanobind::module_& module);
void add_transcript(nanobind::module_& module);
void add_transcription(nanobind::module_& module);
void add_transcriber(nanobind::module_& module);
void add_audio(nanobind::module_& module);
void add_word_errors(nanobind::module_& module);
void add_feed(nanobind::module_& module);
void add_set_feed(nanobind::module_& module);
void add_profile(nanobind::module_& module);
void add_log(nanobind::module_& module);

}  // namespace tutti::python
