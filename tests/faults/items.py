"""What is promised, one sentence an item, and the tests that show it; the ids are those of pytest, below tests/."""

from typing import NamedTuple


class Item(NamedTuple):
    """A promise and the tests that show that it is kept."""

    promise: str
    tests: tuple[str, ...]


A, B, C = "faults/test_a_values.py::", "faults/test_b_numerics.py::", "faults/test_c_crash.py::"
D, E = "faults/test_d_processes.py::", "faults/test_e_input.py::"
DISK, ENDURANCE = "faults/test_c_disk.py::", "faults/test_d_endurance.py::"
EXPORTS, HOSTILE = "faults/test_e_exports.py::", "faults/test_e_storage.py::"
LEASE, STORAGE, FAULTS = "study/test_lease.py::", "study/test_storage.py::", "study/test_faults.py::"
ROBUST, SEARCH, COMMAND, FIND = (
    "test_robustness.py::",
    "search/test_search.py::",
    "command/test_objective.py::",
    "cli/test_cli_find.py::",
)
NUMERICS, DURABLE, WORKERS = "gp/test_numerics.py::", "study/test_retrying_storage.py::", "study/test_workers.py::"
FUZZ, COMPANION = "faults/test_fuzz.py::", "study/test_companion.py::"

GROUPS = {
    "Bad values from the objective": range(1, 7),
    "Numbers": range(7, 22),
    "Crashes and disks": range(22, 30),
    "Many processes": range(30, 39),
    "Input, command line, security": range(39, 49),
    "Any order of events": range(49, 50),
    "The live page and the protocol": range(50, 51),
}

ITEMS = {
    1: Item(
        "Whatever an objective returns, its evaluation ends complete or failed with a reason",
        (A + "test_thirty_values_end_complete_or_failed_with_a_reason",
         "study/test_values.py::test_every_one_of_them_ends_its_trial_and_the_study_goes_on"),
    ),
    2: Item(
        "Whatever it raises is recorded; what ends a program goes on its way",
        (A + "test_eight_exceptions_are_recorded_and_those_that_end_a_program_go_on",
         LEASE + "test_whatever_is_raised_fails_the_trial_and_goes_on"),
    ),
    3: Item(
        "Ctrl-C or a request to end, at any moment, loses nothing and leaves nothing running",
        (A + "test_fifty_times_ctrl_c_at_any_moment", FAULTS + "test_ctrl_c_at_any_moment_leaves_nothing_running",
         FIND + "test_a_request_to_end_is_like_ctrl_c_in_the_background_too"),
    ),
    4: Item(
        "An objective that mostly fails ends the search with its error; one that fails at times does not",
        (FAULTS + "test_an_objective_that_mostly_fails_ends_the_search_with_its_error",
         FAULTS + "test_an_objective_that_fails_sometimes_does_not"),
    ),
    5: Item(
        "A value told twice, too late, or for another study's trial is refused by name and changes nothing",
        (LEASE + "test_telling_wrongly_is_a_named_error_and_changes_nothing",
         DURABLE + "test_of_two_that_finish_a_trial_at_once_only_one_is_heard"),
    ),
    6: Item(
        "A value equal to the target is good; impossible targets are refused",
        (A + "test_targets_at_the_edge", SEARCH + "test_a_value_equal_to_the_target_is_good"),
    ),
    7: Item(
        "One point two hundred times, with equal and with different values",
        (ROBUST + "test_one_point_told_two_hundred_times",
         NUMERICS + "test_a_point_observed_two_hundred_times_is_known_up_to_the_noise"),
    ),
    8: Item(
        "Points that nearly coincide act like one",
        (ROBUST + "test_pairs_of_points_that_nearly_coincide",
         NUMERICS + "test_pairs_of_nearly_equal_points_act_like_their_means"),
    ),
    9: Item(
        "Values from 1e-300 to 1e300 ask the same questions; one enormous value does no harm",
        (ROBUST + "test_thirteen_scales_from_1e_300_to_1e300_ask_the_same_points",
         ROBUST + "test_one_enormous_value_does_no_harm"),
    ),
    10: Item(
        "A large offset changes little, and lost digits are mentioned",
        (ROBUST + "test_an_offset_of_a_million_changes_little_and_one_of_1e16_is_mentioned",),
    ),
    11: Item(
        "Equal values give space-filling questions and one note",
        (ROBUST + "test_constant_values_give_space_filling_questions", SEARCH + "test_equal_values_cause_one_warning"),
    ),
    12: Item(
        "Two thousand values in ten dimensions fit into a gigabyte and a minute",
        (ROBUST + "test_two_thousand_observations_in_ten_dimensions_fit_into_a_gigabyte",),
    ),
    13: Item(
        "Covariance matrices that can hardly be factorised get a reported jitter, or a named error",
        (NUMERICS + "test_hilbert_matrices_are_factorised_with_a_reported_jitter",
         NUMERICS + "test_a_nearly_constant_kernel_without_lam_stays_finite",
         NUMERICS + "test_a_matrix_of_rank_one_gets_the_first_jitter",
         NUMERICS + "test_a_matrix_that_no_jitter_can_repair_raises_a_named_error"),
    ),
    14: Item("A hyperparameter at its bound is named", ("gp/test_models.py::test_a_hyperparameter_at_its_bound_is_noted",)),
    15: Item(
        "When the factorisation fails, the question is a space-filling one, and says so",
        (ROBUST + "test_a_failing_factorisation_falls_back_to_space_filling_points_and_says_so",),
    ),
    16: Item(
        "Arrays of every kind give the same result or a named error, and stay as they were",
        ("domain/test_domain.py::test_every_kind_of_array_gives_the_same_result_and_stays_as_it_was",
         "domain/test_domain_errors.py::test_points_that_are_not_of_the_domain_are_refused",
         SEARCH + "test_a_bad_point_is_refused", ROBUST + "test_one_dimension_and_two_hundred"),
    ),
    17: Item(
        "Likelihood, posterior and the tails of the formulas agree with many digits and dense algebra",
        ("gp/test_evidence.py::test_the_evidence_and_its_gradient_equal_fifty_digit_values",
         "gp/test_posterior.py::test_the_posterior_equals_the_explicit_inverse",
         "acquisition/test_formulas.py::test_log_expected_excess_equals_high_precision",
         "certificates/test_eprocess.py::test_many_standard_deviations_below_the_target_are_no_evidence",
         "certificates/test_eprocess.py::test_many_values_below_the_target_are_no_evidence_either"),
    ),
    18: Item(
        "Any finite data give a finite question within the bounds",
        (ROBUST + "test_any_finite_data_gives_a_finite_point_inside_the_box", ROBUST + "test_two_thousand_random_data_sets"),
    ),
    19: Item(
        "The same history gives the same question: with other threads, after any resumption",
        (B + "test_one_and_four_threads_and_a_resumption_at_every_step_ask_the_same",
         FUZZ + "TestHistories"),
    ),
    20: Item("It beats chance", (B + "test_it_beats_chance",)),
    21: Item(
        "A finite space is used up exactly once; impossible spaces are refused",
        (SEARCH + "test_every_point_of_a_finite_domain_is_asked_exactly_once", SEARCH + "test_rounding_never_asks_a_point_twice",
         "domain/test_domain_errors.py::test_impossible_bounds_are_refused",
         FUZZ + "test_any_short_forms_give_a_space_or_a_named_error"),
    ),
    22: Item(
        "Kills at any moment lose nothing that was acknowledged",
        (C + "test_kills_at_any_moment_lose_nothing",
         WORKERS + "test_a_worker_killed_as_it_takes_a_queued_trial_leaves_it_to_be_given_up"),
    ),
    23: Item(
        "A kill at each single write leaves the state before or after it",
        (C + "test_a_kill_at_each_single_write_leaves_the_state_before_or_after",),
    ),
    24: Item(
        "A run that is killed again and again ends with exactly its budget",
        (C + "test_a_run_of_100_trials_that_is_killed_every_few_seconds_ends_with_exactly_100",),
    ),
    25: Item(
        "A full disk is a named error; with room again the study goes on",
        (DISK + "test_a_full_disk_is_a_named_error_and_nothing_acknowledged_is_lost",
         DISK + "test_threads_on_a_full_disk_end_with_its_error"),
    ),
    26: Item(
        "A damaged file, a directory, a pipe or a device is refused by name and left alone",
        (STORAGE + "test_a_damaged_file_gives_a_named_error_or_its_study",
         STORAGE + "test_what_is_no_study_file_is_refused_and_left_alone",
         DISK + "test_integrity_of_sqlite_is_what_is_checked"),
    ),
    27: Item(
        "A PostgreSQL server that crashes, cuts connections or is away for a while costs nothing",
        (C + "test_a_server_that_crashes_drops_connections_and_goes_away_costs_nothing",
         DURABLE + "test_a_value_whose_acknowledgement_was_lost_is_stored_once",
         STORAGE + "test_workers_that_open_a_study_outlast_a_server_that_cuts_them_off"),
    ),
    28: Item(
        "A report that cannot be written leaves the old one, and none takes the place of a study",
        (DISK + "test_a_report_that_cannot_be_written_leaves_the_old_one",
         "report/test_files.py::test_a_report_or_table_never_replaces_the_study_whatever_it_is_called"),
    ),
    29: Item(
        "Study files of each released version open and go on",
        (DISK + "test_a_study_file_of_each_released_version_opens_and_goes_on",),
    ),
    30: Item(
        "Sixteen processes open a new study at once",
        (D + "test_sixteen_processes_open_a_new_study_at_once_twenty_times",),
    ),
    31: Item(
        "Sixteen processes on one file lose no trial", (D + "test_sixteen_processes_on_one_file_lose_no_trial",)
    ),
    32: Item(
        "Fifty and a hundred clients of one server lose no trial",
        (D + "test_many_clients_of_one_server_lose_no_trial",),
    ),
    33: Item(
        "Two that ask at the same moment never get the same cell",
        (D + "test_two_that_ask_at_the_same_moment_never_get_the_same_cell",
         WORKERS + "test_eight_cells_are_never_given_to_two_workers"),
    ),
    34: Item(
        "A frozen worker that wakes too late changes nothing; one evaluation is made in its place",
        (D + "test_a_frozen_worker_that_wakes_too_late_changes_nothing",
         "study/test_lease_processes.py::test_a_frozen_worker_that_wakes_too_late_is_told_so"),
    ),
    35: Item(
        "Wrong clocks, a held GIL and a locked file kill no living worker, and spare no dead one",
        (D + "test_clocks_that_are_wrong_kill_nobody_and_spare_no_dead", LEASE + "test_one_long_gap_proves_no_death",
         COMPANION + "test_an_objective_that_holds_the_gil_for_six_periods_keeps_its_trial",
         COMPANION + "test_a_file_that_is_locked_for_long_costs_no_living_worker",
         COMPANION + "test_a_companion_ends_with_its_worker_and_takes_no_trial_with_it"),
    ),
    36: Item(
        "A killed worker of a grid of experiments costs no cell, with joblib and with Dask",
        (ENDURANCE + "test_a_killed_worker_of_a_grid_costs_no_cell",
         "paper/experiments/test_experiments.py::test_a_run_killed_again_and_again_ends_with_the_records_of_an_undisturbed_one"),
    ),
    37: Item("Nothing hangs: threads that all raise, joblib within, forks", (ENDURANCE + "test_nothing_hangs",)),
    38: Item(
        "Five thousand trials cost no more each than five hundred",
        (ENDURANCE + "test_five_thousand_trials_cost_no_more_each_than_five_hundred",),
    ),
    39: Item(
        "Arguments of a command arrive byte for byte and start nothing",
        (E + "test_sixty_payloads_arrive_byte_for_byte_and_start_nothing", COMMAND + "test_arguments_arrive_byte_for_byte"),
    ),
    40: Item(
        "A command that fails, floods, hangs or leaves children behind is a failed evaluation, and ends, even if we are killed",
        (E + "test_a_gigabyte_on_the_output_costs_no_memory", COMMAND + "test_a_failure_says_why",
         COMMAND + "test_a_timeout_ends_the_grandchildren_too",
         COMMAND + "test_a_child_left_in_the_background_is_ended_and_the_value_kept",
         COMMAND + "test_output_that_is_closed_early_or_binary_is_survived",
         "command/test_watchdog.py::test_a_search_that_is_killed_takes_its_commands_along"),
    ),
    41: Item(
        "Mutated parameters and tables on the command line give one clear error and no traceback",
        (E + "test_two_hundred_mutated_parameters_and_two_hundred_tables_give_no_traceback",
         FIND + "test_any_words_without_a_command_are_wrong_input"),
    ),
    42: Item("Names lead nowhere: nothing is written outside of the directory", (E + "test_names_lead_nowhere",)),
    43: Item(
        "Payloads in any text of a report run nothing in a browser",
        (EXPORTS + "test_forty_payloads_in_every_text_of_a_report_run_nothing_in_chromium",),
    ),
    44: Item(
        "What is exported is harmless to spreadsheets and comes back exactly",
        (EXPORTS + "test_what_is_exported_is_harmless_and_comes_back_exactly",
         FIND + "test_cells_that_a_spreadsheet_would_run_are_texts_and_nothing_is_lost"),
    ),
    45: Item(
        "Nothing stored is ever unpickled or evaluated",
        (HOSTILE + "test_pickles_in_every_column_of_a_study_are_never_opened",
         HOSTILE + "test_the_sources_neither_unpickle_nor_evaluate_nor_call_a_shell"),
    ),
    46: Item(
        "Names that attack a database are only names; passwords are never shown",
        (HOSTILE + "test_twenty_names_that_attack_a_database_are_only_names",
         HOSTILE + "test_a_password_is_in_no_message_page_or_list_of_processes",
         STORAGE + "test_an_impossible_place_is_refused_without_its_password"),
    ),
    47: Item(
        "Files get the user's modes, and no planted link is followed",
        (HOSTILE + "test_files_are_made_with_the_users_mask_and_through_no_planted_link",
         "report/test_page.py::test_a_link_in_its_place_is_neither_replaced_nor_followed"),
    ),
    48: Item(
        "No connection is opened or awaited",
        (HOSTILE + "test_a_search_its_report_and_its_status_open_no_connection",),
    ),
    49: Item(
        "Whatever is killed, frozen, late, said twice or wrong, in whatever order: nothing acknowledged is lost, no setting is "
        "evaluated by two at once, and certificates count values in the order in which they were begun",
        ("faults/test_d_simulation.py::test_ten_thousand_schedules",
         "study/test_simulation.py::test_schedules_of_workers_and_people_that_are_killed_frozen_late_and_wrong",
         "study/test_simulation.py::test_a_flaw_is_noticed", "study/test_simulation.py::test_a_seed_replays"),
    ),
    50: Item(
        "Fifty clients at once lose nothing, a result is taken as fast as by the bare storage, the protocol is what its document "
        "says, and no attack gets in",
        ("faults/test_f_serve.py::test_fifty_clients_lose_nothing_and_tell_as_fast_as_on_the_bare_storage",
         "faults/test_f_serve.py::test_the_protocol_is_what_its_document_says", "serve/test_guard.py::test_an_attack_is_refused"),
    ),
}  # fmt: skip
