!> Four processes, played by one program, that reduce and meet at barriers while each carries a
!> logical clock along: nobody leaves before all have entered, though their clocks differ.
!>
!>     gfortran retime.f90 barrier.f90 $(pkg-config --libs retime) -o barrier
program barrier
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    use retime
    implicit none

    integer, parameter :: processes = 4
    integer(c_int64_t), parameter :: min_delay = 5
    integer(c_int64_t), parameter :: offset(processes) = [0_c_int64_t, -900_c_int64_t, &
        400_c_int64_t, -50_c_int64_t]
    type(c_ptr) :: clocks(processes)
    type(retime_stamp) :: given(processes), others
    type(retime_stamps) :: all
    integer(c_int64_t) :: physical, time, entered, now
    integer(c_int8_t) :: bytes(RETIME_STAMP_BYTES)
    integer :: me, round, reversed

    do me = 1, processes
        call must(retime_clock_make(RETIME_CLOCK_KIND_CONTROLLED, 1000000_c_int64_t, min_delay, &
            clocks(me)))
    end do
    reversed = 0
    do round = 1, 10
        now = 1000_c_int64_t * round
        ! All enter a barrier, one after the other; what each gives travels as bytes.
        do me = 1, processes
            physical = now + 10 * me + offset(me)
            call must(retime_clock_enter(clocks(me), physical, RETIME_CLASS_ALL_TO_ALL, 0, given(me)))
            call must(retime_stamp_to_bytes(given(me), bytes))
            call must(retime_stamp_from_bytes(bytes, given(me)))
        end do
        call must(retime_stamps_of(given, int(processes, c_size_t), all))
        entered = maxval(given%controlled)
        do me = 1, processes
            physical = now + 60 + offset(me)
            if (physical < now + 10 * processes) reversed = reversed + 1
            others = retime_stamps_besides(all, given(me))
            call must(retime_clock_leave(clocks(me), physical, RETIME_CLASS_ALL_TO_ALL, 0, others, time))
            if (time < entered) stop 1
        end do
        ! A reduction: the root, process 1, waits for the others.
        others = retime_stamp_of_nobody()
        do me = 2, processes
            call must(retime_clock_enter(clocks(me), now + 200 + offset(me), RETIME_CLASS_TO_ROOT, 0, &
                given(me)))
            others = retime_stamp_merged(others, given(me))
        end do
        call must(retime_clock_leave(clocks(1), now + 220, RETIME_CLASS_TO_ROOT, 1, others, time))
        if (time < maxval(given(2:)%controlled) + min_delay) stop 1
    end do
    do me = 1, processes
        call retime_clock_free(clocks(me))
    end do
    print '(i0,a)', reversed, ' times a barrier was left too early by the physical clocks, never by the logical ones'
    print '(2a)', 'libretime ', retime_version()

contains

    subroutine must(status)
        integer(c_int), intent(in) :: status
        if (status == RETIME_STATUS_OK) return
        write (error_unit, '(a)') retime_error()
        stop 2
    end subroutine must

end program barrier
