"""What a change of rows leaves behind: new files, marks on old ones, change data.

Read the modules in this order:

    file_marks      which rows of a file are deleted, and become so
    wide_statistics what the log says of a file whose rows are marked
    change_writer   the files of one change, by what the table asks for
    work_times      how long its parts took, as its history says it
"""
