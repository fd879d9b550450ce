!> libretime for Fortran: the functions of retime.h under their names.
!>
!> Handles are of type(c_ptr), made by one function and freed by another one of the same name.
!> Functions return RETIME_STATUS_OK or why they failed; retime_error() is the text of that, in
!> the words of the command. Paths and options are character variables, without blanks at their
!> ends; lists of options may be left out, and so may watchers. Counts and times are signed here,
!> as Fortran has nothing else: a stamp above 2**63 - 1 shows as a negative one.
!>
!> What each function does, and which thread may do it, stands in retime.h and docs/C-API.md.
module retime
    use, intrinsic :: iso_c_binding
    implicit none
    private

    !> How many bytes retime_stamp_to_bytes writes.
    integer, parameter, public :: RETIME_STAMP_BYTES = 16
    !> How a call ended.
    integer(c_int), parameter, public :: RETIME_STATUS_OK = 0
    integer(c_int), parameter, public :: RETIME_STATUS_OPTION = 1
    integer(c_int), parameter, public :: RETIME_STATUS_MISSING = 2
    integer(c_int), parameter, public :: RETIME_STATUS_TRACE = 3
    integer(c_int), parameter, public :: RETIME_STATUS_OUTPUT = 4
    integer(c_int), parameter, public :: RETIME_STATUS_COMPLETE = 5
    integer(c_int), parameter, public :: RETIME_STATUS_UNSOLVED = 6
    integer(c_int), parameter, public :: RETIME_STATUS_REFUSED = 7
    integer(c_int), parameter, public :: RETIME_STATUS_STRICT = 8
    integer(c_int), parameter, public :: RETIME_STATUS_INTERRUPTED = 9
    integer(c_int), parameter, public :: RETIME_STATUS_DEFECT = 10
    integer(c_int), parameter, public :: RETIME_STATUS_ARGUMENT = 11
    integer(c_int), parameter, public :: RETIME_STATUS_EVENT = 12
    integer(c_int), parameter, public :: RETIME_STATUS_EMPTY = 13

    !> Which clock a program carries along.
    integer(c_int32_t), parameter, public :: RETIME_CLOCK_KIND_SIMPLE = 0
    integer(c_int32_t), parameter, public :: RETIME_CLOCK_KIND_CONTROLLED = 1

    !> What a collective operation proves.
    integer(c_int32_t), parameter, public :: RETIME_CLASS_ALL_TO_ALL = 0
    integer(c_int32_t), parameter, public :: RETIME_CLASS_FROM_ROOT = 1
    integer(c_int32_t), parameter, public :: RETIME_CLASS_TO_ROOT = 2
    integer(c_int32_t), parameter, public :: RETIME_CLASS_PREFIX = 3
    integer(c_int32_t), parameter, public :: RETIME_CLASS_UNORDERED = 4

    !> The logical times that a message carries.
    type, bind(C), public :: retime_stamp
        integer(c_int64_t) :: simple
        integer(c_int64_t) :: controlled
    end type retime_stamp

    !> The stamps of several participants, as far as each of them has to know these.
    type, bind(C), public :: retime_stamps
        type(retime_stamp) :: latest
        type(retime_stamp) :: second
    end type retime_stamps

    !> Who watches a call: functions of C, or c_null_funptr.
    type, bind(C), public :: retime_watch
        type(c_ptr) :: data = c_null_ptr
        type(c_funptr) :: stage = c_null_funptr
        type(c_funptr) :: announce = c_null_funptr
        type(c_funptr) :: advance = c_null_funptr
        type(c_funptr) :: cancelled = c_null_funptr
    end type retime_watch

    !> Where a message without a number goes to or comes from.
    type, bind(C), public :: retime_channel
        integer(c_int32_t) :: peer
        integer(c_int32_t) :: communicator = 0
        integer(c_int32_t) :: tag = 0
    end type retime_channel

    !> A collective operation, as one of its participants sees it.
    type, bind(C), public :: retime_operation
        integer(c_int64_t) :: id
        integer(c_int32_t) :: collective_class
        integer(c_int32_t) :: participants
        integer(c_int32_t) :: rank
        integer(c_int32_t) :: root = 0
        integer(c_int32_t) :: givers = 0
        integer(c_int32_t) :: getters = 0
    end type retime_operation

    !> An event that has left a filter.
    type, bind(C), public :: retime_corrected
        integer(c_int64_t) :: recorded
        integer(c_int64_t) :: time
        integer(c_int64_t) :: payload
        integer(c_int32_t) :: location
    end type retime_corrected

    !> What is in a filter, and how it went so far.
    type, bind(C), public :: retime_filter_state
        integer(c_int64_t) :: events
        integer(c_int64_t) :: released
        integer(c_int64_t) :: held
        integer(c_int64_t) :: open_messages
        integer(c_int64_t) :: open_operations
        integer(c_int64_t) :: violated
        integer(c_int64_t) :: forced
        integer(c_int64_t) :: late
        integer(c_int64_t) :: unmatched_receives
        integer(c_int64_t) :: unmatched_sends
        integer(c_int64_t) :: unfinished_operations
    end type retime_filter_state

    !> How times stand to what must follow what.
    type, bind(C), public :: retime_standing
        integer(c_int64_t) :: dependencies
        integer(c_int64_t) :: violated
        integer(c_int64_t) :: faster
        integer(c_int64_t) :: out_of_order
        integer(c_int64_t) :: smallest_latency
    end type retime_standing

    !> The figures of a trace.
    type, bind(C), public :: retime_counts
        integer(c_int64_t) :: locations
        integer(c_int64_t) :: events
        integer(c_int64_t) :: messages
        integer(c_int64_t) :: collectives
        integer(c_int64_t) :: clocks
        integer(c_int64_t) :: ticks_per_second
        type(retime_standing) :: recorded
        type(retime_standing) :: corrected
        integer(c_int32_t) :: is_corrected
    end type retime_counts

    !> A location of a trace. Its texts are read by retime_text.
    type, bind(C), public :: retime_location
        integer(c_int64_t) :: id
        integer(c_int64_t) :: process
        type(c_ptr) :: name
        type(c_ptr) :: process_name
        type(c_ptr) :: node_name
    end type retime_location

    public :: retime_clock_make, &
        retime_clock_free, &
        retime_clock_now, &
        retime_clock_local, &
        retime_clock_send, &
        retime_clock_receive, &
        retime_clock_enter, &
        retime_clock_leave, &
        retime_stamp_merged, &
        retime_stamps_of, &
        retime_stamps_merged, &
        retime_stamps_besides, &
        retime_stamp_to_bytes, &
        retime_stamp_from_bytes, &
        retime_error_exit_code, &
        retime_filter_free, &
        retime_filter_push, &
        retime_filter_send, &
        retime_filter_send_to, &
        retime_filter_receive, &
        retime_filter_receive_from, &
        retime_filter_enter, &
        retime_filter_leave, &
        retime_filter_heartbeat, &
        retime_filter_close, &
        retime_filter_finish, &
        retime_filter_pop, &
        retime_filter_counts, &
        retime_report_free, &
        retime_report_exit_code, &
        retime_report_counts, &
        retime_study_free, &
        retime_study_counts, &
        retime_study_extent, &
        retime_study_corrected, &
        retime_study_bounds, &
        retime_trace_close, &
        retime_trace_ticks_per_second, &
        retime_trace_locations, &
        retime_trace_location, &
        retime_version, &
        retime_error, &
        retime_trace_open, &
        retime_trace_format, &
        retime_trace_path, &
        retime_command, &
        retime_check, &
        retime_correct, &
        retime_undo, &
        retime_apply, &
        retime_study_make, &
        retime_filter_make, &
        retime_report_outcome, &
        retime_report_json, &
        retime_report_written, &
        retime_text, &
        retime_stamp_of_nobody

    interface
        function retime_clock_make(kind, ticks_per_second, min_delay, clock) &
            bind(C, name="retime_clock_make") result(done)
            import
            integer(c_int32_t), value :: kind
            integer(c_int64_t), value :: ticks_per_second
            integer(c_int64_t), value :: min_delay
            type(c_ptr), intent(out) :: clock
            integer(c_int) :: done
        end function retime_clock_make

        subroutine retime_clock_free(clock) bind(C, name="retime_clock_free")
            import
            type(c_ptr), value :: clock
        end subroutine retime_clock_free

        function retime_clock_now(clock, physical, time) bind(C, name="retime_clock_now") result(done)
            import
            type(c_ptr), value :: clock
            integer(c_int64_t), value :: physical
            integer(c_int64_t), intent(out) :: time
            integer(c_int) :: done
        end function retime_clock_now

        function retime_clock_local(clock, physical, time) bind(C, name="retime_clock_local") result(done)
            import
            type(c_ptr), value :: clock
            integer(c_int64_t), value :: physical
            integer(c_int64_t), intent(out) :: time
            integer(c_int) :: done
        end function retime_clock_local

        function retime_clock_send(clock, physical, stamp) bind(C, name="retime_clock_send") result(done)
            import
            type(c_ptr), value :: clock
            integer(c_int64_t), value :: physical
            type(retime_stamp), intent(out) :: stamp
            integer(c_int) :: done
        end function retime_clock_send

        function retime_clock_receive(clock, physical, message, time) &
            bind(C, name="retime_clock_receive") result(done)
            import
            type(c_ptr), value :: clock
            integer(c_int64_t), value :: physical
            type(retime_stamp), intent(in) :: message
            integer(c_int64_t), intent(out) :: time
            integer(c_int) :: done
        end function retime_clock_receive

        function retime_clock_enter(clock, physical, collective_class, is_root, stamp) &
            bind(C, name="retime_clock_enter") result(done)
            import
            type(c_ptr), value :: clock
            integer(c_int64_t), value :: physical
            integer(c_int32_t), value :: collective_class
            integer(c_int32_t), value :: is_root
            type(retime_stamp), intent(out) :: stamp
            integer(c_int) :: done
        end function retime_clock_enter

        function retime_clock_leave(clock, physical, collective_class, is_root, others, time) &
            bind(C, name="retime_clock_leave") result(done)
            import
            type(c_ptr), value :: clock
            integer(c_int64_t), value :: physical
            integer(c_int32_t), value :: collective_class
            integer(c_int32_t), value :: is_root
            type(retime_stamp), intent(in) :: others
            integer(c_int64_t), intent(out) :: time
            integer(c_int) :: done
        end function retime_clock_leave

        function retime_stamp_merged(one, other) bind(C, name="retime_stamp_merged") result(done)
            import
            type(retime_stamp), value :: one
            type(retime_stamp), value :: other
            type(retime_stamp) :: done
        end function retime_stamp_merged

        function retime_stamps_of(stamps, count, merged) bind(C, name="retime_stamps_of") result(done)
            import
            type(retime_stamp), intent(in) :: stamps(*)
            integer(c_size_t), value :: count
            type(retime_stamps), intent(out) :: merged
            integer(c_int) :: done
        end function retime_stamps_of

        function retime_stamps_merged(these, others) bind(C, name="retime_stamps_merged") result(done)
            import
            type(retime_stamps), value :: these
            type(retime_stamps), value :: others
            type(retime_stamps) :: done
        end function retime_stamps_merged

        function retime_stamps_besides(all, own) bind(C, name="retime_stamps_besides") result(done)
            import
            type(retime_stamps), value :: all
            type(retime_stamp), value :: own
            type(retime_stamp) :: done
        end function retime_stamps_besides

        function retime_stamp_to_bytes(stamp, bytes) bind(C, name="retime_stamp_to_bytes") result(done)
            import
            type(retime_stamp), value :: stamp
            integer(c_int8_t), intent(out) :: bytes(16)
            integer(c_int) :: done
        end function retime_stamp_to_bytes

        function retime_stamp_from_bytes(bytes, stamp) bind(C, name="retime_stamp_from_bytes") result(done)
            import
            integer(c_int8_t), intent(in) :: bytes(16)
            type(retime_stamp), intent(out) :: stamp
            integer(c_int) :: done
        end function retime_stamp_from_bytes

        function retime_error_exit_code() bind(C, name="retime_error_exit_code") result(done)
            import
            integer(c_int32_t) :: done
        end function retime_error_exit_code

        subroutine retime_filter_free(filter) bind(C, name="retime_filter_free")
            import
            type(c_ptr), value :: filter
        end subroutine retime_filter_free

        function retime_filter_push(filter, location, time, payload) bind(C, name="retime_filter_push") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            integer(c_int64_t), value :: payload
            integer(c_int) :: done
        end function retime_filter_push

        function retime_filter_send(filter, location, time, message, payload) &
            bind(C, name="retime_filter_send") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            integer(c_int64_t), value :: message
            integer(c_int64_t), value :: payload
            integer(c_int) :: done
        end function retime_filter_send

        function retime_filter_receive(filter, location, time, message, payload) &
            bind(C, name="retime_filter_receive") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            integer(c_int64_t), value :: message
            integer(c_int64_t), value :: payload
            integer(c_int) :: done
        end function retime_filter_receive

        function retime_filter_send_to(filter, location, time, channel, payload) &
            bind(C, name="retime_filter_send_to") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            type(retime_channel), intent(in) :: channel
            integer(c_int64_t), value :: payload
            integer(c_int) :: done
        end function retime_filter_send_to

        function retime_filter_receive_from(filter, location, time, channel, payload) &
            bind(C, name="retime_filter_receive_from") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            type(retime_channel), intent(in) :: channel
            integer(c_int64_t), value :: payload
            integer(c_int) :: done
        end function retime_filter_receive_from

        function retime_filter_enter(filter, location, time, operation, payload) &
            bind(C, name="retime_filter_enter") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            type(retime_operation), intent(in) :: operation
            integer(c_int64_t), value :: payload
            integer(c_int) :: done
        end function retime_filter_enter

        function retime_filter_leave(filter, location, time, operation, payload) &
            bind(C, name="retime_filter_leave") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            type(retime_operation), intent(in) :: operation
            integer(c_int64_t), value :: payload
            integer(c_int) :: done
        end function retime_filter_leave

        function retime_filter_heartbeat(filter, location, time) bind(C, name="retime_filter_heartbeat") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int64_t), value :: time
            integer(c_int) :: done
        end function retime_filter_heartbeat

        function retime_filter_close(filter, location) bind(C, name="retime_filter_close") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int32_t), value :: location
            integer(c_int) :: done
        end function retime_filter_close

        function retime_filter_finish(filter) bind(C, name="retime_filter_finish") result(done)
            import
            type(c_ptr), value :: filter
            integer(c_int) :: done
        end function retime_filter_finish

        function retime_filter_pop(filter, event) bind(C, name="retime_filter_pop") result(done)
            import
            type(c_ptr), value :: filter
            type(retime_corrected), intent(out) :: event
            integer(c_int) :: done
        end function retime_filter_pop

        function retime_filter_counts(filter, counts) bind(C, name="retime_filter_counts") result(done)
            import
            type(c_ptr), value :: filter
            type(retime_filter_state), intent(out) :: counts
            integer(c_int) :: done
        end function retime_filter_counts

        subroutine retime_report_free(report) bind(C, name="retime_report_free")
            import
            type(c_ptr), value :: report
        end subroutine retime_report_free

        function retime_report_exit_code(report) bind(C, name="retime_report_exit_code") result(done)
            import
            type(c_ptr), value :: report
            integer(c_int32_t) :: done
        end function retime_report_exit_code

        function retime_report_counts(report, counts) bind(C, name="retime_report_counts") result(done)
            import
            type(c_ptr), value :: report
            type(retime_counts), intent(out) :: counts
            integer(c_int) :: done
        end function retime_report_counts

        subroutine retime_study_free(study) bind(C, name="retime_study_free")
            import
            type(c_ptr), value :: study
        end subroutine retime_study_free

        function retime_study_counts(study, counts) bind(C, name="retime_study_counts") result(done)
            import
            type(c_ptr), value :: study
            type(retime_counts), intent(out) :: counts
            integer(c_int) :: done
        end function retime_study_counts

        function retime_study_extent(study, location, first, last) bind(C, name="retime_study_extent") result(done)
            import
            type(c_ptr), value :: study
            integer(c_int32_t), value :: location
            integer(c_int64_t), intent(out) :: first
            integer(c_int64_t), intent(out) :: last
            integer(c_int) :: done
        end function retime_study_extent

        function retime_study_corrected(study, location, recorded, count, corrected) &
            bind(C, name="retime_study_corrected") result(done)
            import
            type(c_ptr), value :: study
            integer(c_int32_t), value :: location
            integer(c_int64_t), intent(in) :: recorded(*)
            integer(c_size_t), value :: count
            integer(c_int64_t), intent(out) :: corrected(*)
            integer(c_int) :: done
        end function retime_study_corrected

        function retime_study_bounds(study, location, recorded, count, before, after) &
            bind(C, name="retime_study_bounds") result(done)
            import
            type(c_ptr), value :: study
            integer(c_int32_t), value :: location
            integer(c_int64_t), intent(in) :: recorded(*)
            integer(c_size_t), value :: count
            real(c_double), intent(out) :: before(*)
            real(c_double), intent(out) :: after(*)
            integer(c_int) :: done
        end function retime_study_bounds

        subroutine retime_trace_close(trace) bind(C, name="retime_trace_close")
            import
            type(c_ptr), value :: trace
        end subroutine retime_trace_close

        function retime_trace_ticks_per_second(trace) bind(C, name="retime_trace_ticks_per_second") result(done)
            import
            type(c_ptr), value :: trace
            integer(c_int64_t) :: done
        end function retime_trace_ticks_per_second

        function retime_trace_locations(trace) bind(C, name="retime_trace_locations") result(done)
            import
            type(c_ptr), value :: trace
            integer(c_size_t) :: done
        end function retime_trace_locations

        function retime_trace_location(trace, position, location) bind(C, name="retime_trace_location") result(done)
            import
            type(c_ptr), value :: trace
            integer(c_size_t), value :: position
            type(retime_location), intent(out) :: location
            integer(c_int) :: done
        end function retime_trace_location
    end interface

    !> Functions that take or give texts.
    interface
        function c_version() bind(C, name="retime_version") result(done)
            import
            type(c_ptr) :: done
        end function c_version

        function c_error() bind(C, name="retime_error") result(done)
            import
            type(c_ptr) :: done
        end function c_error

        function c_trace_open(path, format, watch, trace) bind(C, name="retime_trace_open") result(done)
            import
            type(c_ptr), value :: path
            type(c_ptr), value :: format
            type(c_ptr), value :: watch
            type(c_ptr), intent(out) :: trace
            integer(c_int) :: done
        end function c_trace_open

        function c_trace_format(trace) bind(C, name="retime_trace_format") result(done)
            import
            type(c_ptr), value :: trace
            type(c_ptr) :: done
        end function c_trace_format

        function c_trace_path(trace) bind(C, name="retime_trace_path") result(done)
            import
            type(c_ptr), value :: trace
            type(c_ptr) :: done
        end function c_trace_path

        function c_command(words, watch, report) bind(C, name="retime_command") result(done)
            import
            type(c_ptr), value :: words
            type(c_ptr), value :: watch
            type(c_ptr), intent(out) :: report
            integer(c_int) :: done
        end function c_command

        function c_check(trace, options, watch, report) bind(C, name="retime_check") result(done)
            import
            type(c_ptr), value :: trace
            type(c_ptr), value :: options
            type(c_ptr), value :: watch
            type(c_ptr), intent(out) :: report
            integer(c_int) :: done
        end function c_check

        function c_correct(trace, output, options, watch, report) bind(C, name="retime_correct") result(done)
            import
            type(c_ptr), value :: trace
            type(c_ptr), value :: output
            type(c_ptr), value :: options
            type(c_ptr), value :: watch
            type(c_ptr), intent(out) :: report
            integer(c_int) :: done
        end function c_correct

        function c_undo(corrected, output, options, watch, report) bind(C, name="retime_undo") result(done)
            import
            type(c_ptr), value :: corrected
            type(c_ptr), value :: output
            type(c_ptr), value :: options
            type(c_ptr), value :: watch
            type(c_ptr), intent(out) :: report
            integer(c_int) :: done
        end function c_undo

        function c_apply(correction, trace, output, options, watch, report) bind(C, name="retime_apply") result(done)
            import
            type(c_ptr), value :: correction
            type(c_ptr), value :: trace
            type(c_ptr), value :: output
            type(c_ptr), value :: options
            type(c_ptr), value :: watch
            type(c_ptr), intent(out) :: report
            integer(c_int) :: done
        end function c_apply

        function c_study_make(trace, options, watch, study) bind(C, name="retime_study_make") result(done)
            import
            type(c_ptr), value :: trace
            type(c_ptr), value :: options
            type(c_ptr), value :: watch
            type(c_ptr), intent(out) :: study
            integer(c_int) :: done
        end function c_study_make

        function c_filter_make(clocks, locations, options, filter) bind(C, name="retime_filter_make") result(done)
            import
            integer(c_int32_t), intent(in) :: clocks(*)
            integer(c_size_t), value :: locations
            type(c_ptr), value :: options
            type(c_ptr), intent(out) :: filter
            integer(c_int) :: done
        end function c_filter_make

        function c_report_outcome(report) bind(C, name="retime_report_outcome") result(done)
            import
            type(c_ptr), value :: report
            type(c_ptr) :: done
        end function c_report_outcome

        function c_report_json(report) bind(C, name="retime_report_json") result(done)
            import
            type(c_ptr), value :: report
            type(c_ptr) :: done
        end function c_report_json

        function c_report_written(report, position) bind(C, name="retime_report_written") result(done)
            import
            type(c_ptr), value :: report
            integer(c_size_t), value :: position
            type(c_ptr) :: done
        end function c_report_written

        function c_length(text) bind(C, name="strlen") result(done)
            import
            type(c_ptr), value :: text
            integer(c_size_t) :: done
        end function c_length
    end interface

    !> Texts of C, one after the other, and where each begins; after the last a null.
    type :: c_texts
        character(kind=c_char), pointer :: bytes(:) => null()
        type(c_ptr), pointer :: list(:) => null()
    contains
        final :: free_texts
    end type c_texts

contains

    !> A text of C; empty if there is none.
    function retime_text(text) result(copy)
        type(c_ptr), intent(in) :: text
        character(len=:), allocatable :: copy
        character(kind=c_char), pointer :: bytes(:)
        integer :: at
        if (.not. c_associated(text)) then
            copy = ''
            return
        end if
        call c_f_pointer(text, bytes, [c_length(text)])
        allocate (character(len=size(bytes)) :: copy)
        do at = 1, size(bytes)
            copy(at:at) = bytes(at)
        end do
    end function retime_text

    !> The stamp that nobody gave: merged with another one it changes nothing, and who hears it
    !> need not wait. Both times are RETIME_NO_TIME of retime.h, for which Fortran has no constant.
    pure function retime_stamp_of_nobody() result(stamp)
        type(retime_stamp) :: stamp
        stamp%simple = -huge(stamp%simple)
        stamp%simple = stamp%simple - 1
        stamp%controlled = stamp%simple
    end function retime_stamp_of_nobody

    !> The version of the library.
    function retime_version() result(text)
        character(len=:), allocatable :: text
        text = retime_text(c_version())
    end function retime_version

    !> The text of the last call of this thread that failed.
    function retime_error() result(text)
        character(len=:), allocatable :: text
        text = retime_text(c_error())
    end function retime_error

    !> Opens a trace.
    function retime_trace_open(path, trace, format, watch) result(done)
        character(len=*), intent(in) :: path
        type(c_ptr), intent(out) :: trace
        character(len=*), intent(in), optional :: format
        type(retime_watch), intent(in), target, optional :: watch
        integer(c_int) :: done
        type(c_texts), target :: texts
        type(c_ptr) :: named
        named = c_null_ptr
        if (present(format)) then
            call keep(texts, [character(len=max(len(path), len(format))) :: path, format])
            named = texts%list(2)
        else
            call keep(texts, [path])
        end if
        done = c_trace_open(texts%list(1), named, watcher(watch), trace)
    end function retime_trace_open

    !> The name of the format of a trace.
    function retime_trace_format(trace) result(text)
        type(c_ptr), intent(in) :: trace
        character(len=:), allocatable :: text
        text = retime_text(c_trace_format(trace))
    end function retime_trace_format

    !> The file that stands for a trace.
    function retime_trace_path(trace) result(text)
        type(c_ptr), intent(in) :: trace
        character(len=:), allocatable :: text
        text = retime_text(c_trace_path(trace))
    end function retime_trace_path

    !> Does what a command line asks for, without its first word.
    function retime_command(words, report, watch) result(done)
        character(len=*), intent(in) :: words(:)
        type(c_ptr), intent(out) :: report
        type(retime_watch), intent(in), target, optional :: watch
        integer(c_int) :: done
        type(c_texts), target :: texts
        call keep(texts, words)
        done = c_command(c_loc(texts%list), watcher(watch), report)
    end function retime_command

    !> Counts the contradictions of a trace.
    function retime_check(trace, report, options, watch) result(done)
        character(len=*), intent(in) :: trace
        type(c_ptr), intent(out) :: report
        character(len=*), intent(in), optional :: options(:)
        type(retime_watch), intent(in), target, optional :: watch
        integer(c_int) :: done
        type(c_texts), target :: paths, words
        call keep(paths, [trace])
        call keep(words, options)
        done = c_check(paths%list(1), c_loc(words%list), watcher(watch), report)
    end function retime_check

    !> Writes a corrected copy of a trace.
    function retime_correct(trace, output, report, options, watch) result(done)
        character(len=*), intent(in) :: trace, output
        type(c_ptr), intent(out) :: report
        character(len=*), intent(in), optional :: options(:)
        type(retime_watch), intent(in), target, optional :: watch
        integer(c_int) :: done
        type(c_texts), target :: paths, words
        call keep(paths, [character(len=max(len(trace), len(output))) :: trace, output])
        call keep(words, options)
        done = c_correct(paths%list(1), paths%list(2), c_loc(words%list), watcher(watch), report)
    end function retime_correct

    !> Restores the original of a corrected trace.
    function retime_undo(corrected, output, report, options, watch) result(done)
        character(len=*), intent(in) :: corrected, output
        type(c_ptr), intent(out) :: report
        character(len=*), intent(in), optional :: options(:)
        type(retime_watch), intent(in), target, optional :: watch
        integer(c_int) :: done
        type(c_texts), target :: paths, words
        call keep(paths, [character(len=max(len(corrected), len(output))) :: corrected, output])
        call keep(words, options)
        done = c_undo(paths%list(1), paths%list(2), c_loc(words%list), watcher(watch), report)
    end function retime_undo

    !> Sends another trace of the same run through a saved correction.
    function retime_apply(correction, trace, output, report, options, watch) result(done)
        character(len=*), intent(in) :: correction, trace, output
        type(c_ptr), intent(out) :: report
        character(len=*), intent(in), optional :: options(:)
        type(retime_watch), intent(in), target, optional :: watch
        integer(c_int) :: done
        type(c_texts), target :: paths, words
        call keep(paths, [character(len=max(len(correction), len(trace), len(output))) :: &
            correction, trace, output])
        call keep(words, options)
        done = c_apply(paths%list(1), paths%list(2), paths%list(3), c_loc(words%list), &
            watcher(watch), report)
    end function retime_apply

    !> Analyses a trace and corrects it in memory.
    function retime_study_make(trace, study, options, watch) result(done)
        character(len=*), intent(in) :: trace
        type(c_ptr), intent(out) :: study
        character(len=*), intent(in), optional :: options(:)
        type(retime_watch), intent(in), target, optional :: watch
        integer(c_int) :: done
        type(c_texts), target :: paths, words
        call keep(paths, [trace])
        call keep(words, options)
        done = c_study_make(paths%list(1), c_loc(words%list), watcher(watch), study)
    end function retime_study_make

    !> Makes a filter for locations that read the clocks with the given numbers, from 0 on.
    function retime_filter_make(clocks, filter, options) result(done)
        integer(c_int32_t), intent(in) :: clocks(:)
        type(c_ptr), intent(out) :: filter
        character(len=*), intent(in), optional :: options(:)
        integer(c_int) :: done
        type(c_texts), target :: words
        call keep(words, options)
        done = c_filter_make(clocks, size(clocks, kind=c_size_t), c_loc(words%list), filter)
    end function retime_filter_make

    !> The outcome in a sentence.
    function retime_report_outcome(report) result(text)
        type(c_ptr), intent(in) :: report
        character(len=:), allocatable :: text
        text = retime_text(c_report_outcome(report))
    end function retime_report_outcome

    !> The report in full, as JSON; empty if the command gives none.
    function retime_report_json(report) result(text)
        type(c_ptr), intent(in) :: report
        character(len=:), allocatable :: text
        text = retime_text(c_report_json(report))
    end function retime_report_json

    !> The path of what was written at a position, from 0 on; empty after the last.
    function retime_report_written(report, position) result(text)
        type(c_ptr), intent(in) :: report
        integer(c_size_t), intent(in) :: position
        character(len=:), allocatable :: text
        text = retime_text(c_report_written(report, position))
    end function retime_report_written

    !> Keeps words as texts of C; none if they are left out.
    subroutine keep(texts, words)
        type(c_texts), intent(inout) :: texts
        character(len=*), intent(in), optional :: words(:)
        integer :: bytes, count, word, at, place
        bytes = 0
        count = 0
        if (present(words)) then
            count = size(words)
            do word = 1, count
                bytes = bytes + len_trim(words(word)) + 1
            end do
        end if
        allocate (texts%bytes(max(bytes, 1)), texts%list(count + 1))
        texts%list = c_null_ptr
        place = 1
        do word = 1, count
            texts%list(word) = c_loc(texts%bytes(place))
            do at = 1, len_trim(words(word))
                texts%bytes(place) = words(word)(at:at)
                place = place + 1
            end do
            texts%bytes(place) = c_null_char
            place = place + 1
        end do
    end subroutine keep

    subroutine free_texts(texts)
        type(c_texts), intent(inout) :: texts
        if (associated(texts%bytes)) deallocate (texts%bytes)
        if (associated(texts%list)) deallocate (texts%list)
    end subroutine free_texts

    !> Where a watcher is; a null if it is left out.
    function watcher(watch) result(place)
        type(retime_watch), intent(in), target, optional :: watch
        type(c_ptr) :: place
        place = c_null_ptr
        if (present(watch)) place = c_loc(watch)
    end function watcher

end module retime
