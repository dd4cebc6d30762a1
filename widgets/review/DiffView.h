// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListView>

namespace heddle {

class DiffDelegate;
class DiffModel;

/// A proposal's diff. Single keys decide while it has the focus: j k y n u c a, Enter and Escape. It only
/// asks; the document does. It never scrolls by itself unless the person moves. GUI thread.
class DiffView : public QListView {
    Q_OBJECT

public:
    explicit DiffView(DiffModel *model, QWidget *parent = nullptr);

    void setDecidable(bool isDecidable);
    int currentHunk() const;
    void goToHunk(int number);
    /// The line of the new text at the cursor; 0 on a head.
    int currentLine() const;

signals:
    void acceptHunk(int number);
    void rejectHunk(int number);
    void undoHunk(int number);
    void undoLast();
    void acceptAll();
    void commentHunk(int number);
    void editRequested();
    void leaveRequested();

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    DiffModel *m_diff;
    DiffDelegate *m_delegate;
};

} // namespace heddle
