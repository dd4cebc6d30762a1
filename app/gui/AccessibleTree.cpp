// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/AccessibleTree.h"

#include "widgets/common/Text.h"

#include <QAccessible>
#include <QAction>
#include <QMetaEnum>
#include <QWidget>

#include <functional>

using namespace Qt::StringLiterals;

namespace heddle::accessibleTree {

namespace {

constexpr int mostCells = 20000;

QString roleName(QAccessible::Role role)
{
    const QMetaEnum roles = QMetaEnum::fromType<QAccessible::Role>();
    const char *name = roles.valueToKey(role);
    return name == nullptr ? QString::number(role) : QString::fromLatin1(name);
}

/// Depth first over what is visible; the visitor returns false to stop.
bool walk(QAccessibleInterface *node, int &budget, const std::function<bool(QAccessibleInterface *)> &visit)
{
    if (node == nullptr || !node->isValid() || --budget < 0)
        return true;
    if (node->state().invisible)
        return true;
    if (!visit(node))
        return false;
    for (int child = 0; child < node->childCount(); ++child) {
        if (!walk(node->child(child), budget, visit))
            return false;
    }
    return true;
}

bool visitAll(QWidget *window, const std::function<bool(QAccessibleInterface *)> &visit)
{
    int budget = mostCells;
    return walk(QAccessible::queryAccessibleInterface(window), budget, visit);
}

bool isText(QAccessible::Role role)
{
    return role == QAccessible::EditableText || role == QAccessible::StaticText
        || role == QAccessible::Document;
}

/// "&Lint", "Lint" and "Export…" are the same to a person.
QString plain(QString name) { return name.remove(u'&').remove(u'…').trimmed(); }

Json describeNode(QAccessibleInterface *node, int &budget)
{
    Json out{{"role", toUtf8(roleName(node->role()))}, {"name", toUtf8(node->text(QAccessible::Name))}};
    const QString value = node->text(QAccessible::Value);
    if (!value.isEmpty())
        out["value"] = toUtf8(value);
    const QAccessible::State state = node->state();
    out["enabled"] = !state.disabled;
    out["focusable"] = static_cast<bool>(state.focusable);
    if (state.checked)
        out["checked"] = true;
    Json children = Json::array();
    for (int child = 0; child < node->childCount() && budget > 0; ++child) {
        QAccessibleInterface *below = node->child(child);
        --budget;
        if (below != nullptr && below->isValid() && !below->state().invisible)
            children.push_back(describeNode(below, budget));
    }
    if (!children.empty())
        out["children"] = std::move(children);
    return out;
}

} // namespace

Json describe(QWidget *window)
{
    int budget = mostCells;
    return describeNode(QAccessible::queryAccessibleInterface(window), budget);
}

Result<void> press(QWidget *window, const QString &name, const QString &role)
{
    QStringList similar;
    QString refusal;
    bool isPressed = false;
    visitAll(window, [&](QAccessibleInterface *node) {
        const QString own = plain(node->text(QAccessible::Name));
        if (own != plain(name)) {
            if (!own.isEmpty() && own.contains(plain(name), Qt::CaseInsensitive) && similar.size() < 5)
                similar << own;
            return true;
        }
        if (!role.isEmpty() && roleName(node->role()) != role)
            return true;
        if (node->state().disabled) {
            refusal = u"it is disabled"_s;
            return true;
        }
        QAccessibleActionInterface *actions = node->actionInterface();
        if (actions == nullptr)
            return true;
        const QStringList names = actions->actionNames();
        for (const QString &wanted :
             {QAccessibleActionInterface::pressAction(), QAccessibleActionInterface::toggleAction(),
              QAccessibleActionInterface::showMenuAction()}) {
            if (names.contains(wanted)) {
                actions->doAction(wanted);
                isPressed = true;
                return false;
            }
        }
        return true;
    });
    if (isPressed)
        return {};
    // Actions live in menus that are shut; a person reaches them by the palette or the keyboard.
    for (QAction *action : window->actions()) {
        if (plain(action->text()) == plain(name) && action->isEnabled()) {
            action->trigger();
            return {};
        }
    }
    return Error(refusal.isEmpty() ? Code::NotFound : Code::Conflict,
                 refusal.isEmpty() ? "no control of that name can be pressed" : toUtf8(refusal), toUtf8(name),
                 similar.isEmpty() ? std::string() : toUtf8(u"there are: "_s + similar.join(u", "_s)));
}

Result<void> setText(QWidget *window, const QString &name, const QString &text)
{
    bool isFound = false;
    bool isSet = false;
    visitAll(window, [&](QAccessibleInterface *node) {
        if (plain(node->text(QAccessible::Name)) != plain(name))
            return true;
        isFound = true;
        if (QAccessibleEditableTextInterface *edit = node->editableTextInterface(); edit != nullptr) {
            edit->replaceText(
                0, node->textInterface() != nullptr ? node->textInterface()->characterCount() : 0, text);
            isSet = true;
            return false;
        }
        return true;
    });
    if (isSet)
        return {};
    return Error(isFound ? Code::InvalidInput : Code::NotFound,
                 isFound ? "this control has no text to edit" : "no control has that name", toUtf8(name));
}

QStringList texts(QWidget *window)
{
    QStringList all;
    visitAll(window, [&](QAccessibleInterface *node) {
        const QString name = node->text(QAccessible::Name);
        if (!name.isEmpty())
            all << name;
        const QString value = node->text(QAccessible::Value);
        if (!value.isEmpty() && value != name)
            all << value;
        if (QAccessibleTextInterface *text = node->textInterface(); text != nullptr && isText(node->role()))
            all << text->text(0, text->characterCount());
        return true;
    });
    all.removeDuplicates();
    return all;
}

QStringList unnamed(QWidget *window)
{
    QStringList paths;
    visitAll(window, [&](QAccessibleInterface *node) {
        const QAccessible::State state = node->state();
        const auto *widget = qobject_cast<QWidget *>(node->object());
        const bool takesFocus = widget != nullptr && widget->focusPolicy() != Qt::NoFocus && state.focusable;
        // A tab bar answers with its current tab, so it is asked for the name that it was given.
        if (takesFocus && node->text(QAccessible::Name).isEmpty() && widget->accessibleName().isEmpty()) {
            QStringList path;
            for (const QObject *at = widget; at != nullptr; at = at->parent())
                path.prepend(QString::fromLatin1(at->metaObject()->className()));
            paths << u"%1: %2"_s.arg(roleName(node->role()), path.join(u'/'));
        }
        return true;
    });
    return paths;
}

} // namespace heddle::accessibleTree
